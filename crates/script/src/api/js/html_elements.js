// Elements of k6/html: the methods that all have, and a table of those that each kind has besides.
(function () {
  'use strict';
  return function (native) {
    const { Selection } = native;
    const none = (id) => id === undefined || id === null;
    let number;
    class Element {
      #page; #id; #url;
      constructor(page, id, url) { this.#page = page; this.#id = id; this.#url = url; }
      static {
        number = (element) => (element !== null && typeof element === 'object' && #id in element ? element.#id : undefined);
        native.inner = (element) => ({ page: element.#page, id: element.#id, url: element.#url });
      }
      #of(id) { return none(id) ? undefined : make(this.#page, id, this.#url); }
      #all(ids) { return ids.map((id) => make(this.#page, id, this.#url)); }
      #step(way) { return this.#of(native.step(this.#page, this.#id, way)); }
      attributes() {
        const all = {};
        for (const [name] of native.attributes(this.#page, this.#id)) all[name] = this.getAttributeNode(name);
        return all;
      }
      childElementCount() { return native.children(this.#page, this.#id, true).length; }
      childNodes() { return this.#all(native.children(this.#page, this.#id, false)); }
      children() { return this.#all(native.children(this.#page, this.#id, true)); }
      classList() { return (this.getAttribute('class') ?? '').split(/\s+/).filter((name) => name); }
      className() { return this.getAttribute('class') ?? ''; }
      contains(other) {
        for (let id = number(other); !none(id); id = native.step(this.#page, id, 'parent')) {
          if (id === this.#id) return id !== number(other);
        }
        return false;
      }
      firstChild() { return this.#of(native.children(this.#page, this.#id, false)[0]); }
      firstElementChild() { return this.#of(native.children(this.#page, this.#id, true)[0]); }
      getAttribute(name) { return native.attribute(this.#page, this.#id, String(name)) ?? undefined; }
      getAttributeNode(name) {
        const value = this.getAttribute(name);
        return value === undefined ? undefined : { owner_element: this, name: String(name), value };
      }
      getElementsByClassName(names) {
        const selector = String(names).split(/\s+/).filter((name) => name).map((name) => '.' + name).join('');
        return this.#all(native.find(this.#page, [this.#id], selector));
      }
      getElementsByTagName(name) { return this.#all(native.find(this.#page, [this.#id], String(name))); }
      hasAttribute(name) { return this.getAttribute(name) !== undefined; }
      hasAttributes() { return native.attributes(this.#page, this.#id).length > 0; }
      hasChildNodes() { return native.children(this.#page, this.#id, false).length > 0; }
      id() { return this.getAttribute('id') ?? ''; }
      innerHTML() { return native.html(this.#page, this.#id); }
      isDefaultNamespace() { return true; }
      isEqualNode(other) {
        const inner = native.inner(other);
        return this.nodeName() === other.nodeName() && this.nodeValue() === other.nodeValue()
          && JSON.stringify(native.attributes(this.#page, this.#id)) === JSON.stringify(native.attributes(inner.page, inner.id))
          && native.html(this.#page, this.#id) === native.html(inner.page, inner.id);
      }
      isSameNode(other) { return native.inner(other).page === this.#page && number(other) === this.#id; }
      lang() { return this.getAttribute('lang'); }
      lastChild() { return this.#of(native.children(this.#page, this.#id, false).at(-1)); }
      lastElementChild() { return this.#of(native.children(this.#page, this.#id, true).at(-1)); }
      matches(selector) { return native.matches(this.#page, [this.#id], String(selector)).length > 0; }
      namespaceURI() { return 'http://www.w3.org/1999/xhtml'; }
      nextElementSibling() { return this.#step('nextElement'); }
      nextSibling() { return this.#step('next'); }
      nodeName() { return native.name(this.#page, this.#id); }
      nodeType() { return native.kind(this.#page, this.#id); }
      nodeValue() { return native.value(this.#page, this.#id) ?? undefined; }
      ownerDocument() { return this.#of(0); }
      parentElement() { const parent = this.#step('parent'); return parent && parent.nodeType() === 1 ? parent : undefined; }
      parentNode() { return this.#step('parent'); }
      previousElementSibling() { return this.#step('previousElement'); }
      previousSibling() { return this.#step('previous'); }
      querySelector(selector) { return this.#of(native.find(this.#page, [this.#id], String(selector))[0]); }
      querySelectorAll(selector) { return this.#all(native.find(this.#page, [this.#id], String(selector))); }
      selection() { return new Selection(this.#page, [this.#id], this.#url); }
      textContent() { return native.text(this.#page, [this.#id]); }
      toString() { return '[object html.Node]'; }
    }

    // The kinds of methods. `e` is the element.
    const text = (name, fallback = '') => (e) => e.getAttribute(name) ?? fallback;
    const flag = (name) => (e) => e.hasAttribute(name);
    const whole = (name, fallback = 0) => (e) => { const value = e.getAttribute(name); return /^[+-]?\d+$/.test(value ?? '') ? Number(value) : fallback; };
    const one = (name, known, fallback) => (e) => (known.includes(e.getAttribute(name)) ? e.getAttribute(name) : fallback);
    const fixed = (value) => () => value;
    const link = (name) => (e) => { const { url } = native.inner(e); const value = e.getAttribute(name) ?? ''; return value === '' ? '' : native.resolve(url, value); };
    const part = (name) => (e) => native.part(link('href')(e), name);
    // A link that is not absolute has a path and no host.
    const relative = (name) => (e) => {
      const href = link('href')(e);
      if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return native.part(href, name);
      return href === '' ? '' : native.part(native.resolve('http://x/', href), name);
    };
    const whose = (e, id) => { const all = e.ownerDocument().querySelectorAll('[id]'); return id ? all.find((other) => other.id() === id) : undefined; };
    const up = (e, name) => { for (let at = e.parentNode(); at && at.nodeType() === 1; at = at.parentNode()) if (at.nodeName() === name) return at; return undefined; };
    const form = (e) => (e.hasAttribute('form') ? whose(e, e.getAttribute('form')) : undefined) ?? up(e, 'form');
    const labels = (e) => {
      const id = e.id();
      const around = up(e, 'label');
      const named = id ? e.ownerDocument().querySelectorAll('label').filter((label) => label.getAttribute('for') === id) : [];
      return around && !named.some((label) => label.isSameNode(around)) ? [around, ...named] : named;
    };
    const all = (selector) => (e) => e.querySelectorAll(selector);
    const first = (selector) => (e) => e.querySelector(selector);
    const ENCODINGS = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];
    const POLICIES = ['no-referrer', 'no-referrer-when-downgrade', 'origin', 'origin-when-cross-origin', 'unsafe-url'];
    const crossOrigin = (e) => (e.hasAttribute('crossorigin') ? (e.getAttribute('crossorigin') === 'use-credentials' ? 'use-credentials' : 'anonymous') : undefined);
    const relList = (e) => (e.getAttribute('rel') ?? '').split(/\s+/).filter((name) => name);
    const option = {
      defaultSelected: flag('selected'),
      disabled: (e) => { if (e.hasAttribute('disabled')) return true; const group = up(e, 'optgroup'); return Boolean(group && group.hasAttribute('disabled')); },
      form, index: (e) => { const box = up(e, 'select') ?? up(e, 'datalist'); return box ? Math.max(0, box.querySelectorAll('option').findIndex((o) => o.isSameNode(e))) : 0; },
      label: (e) => e.getAttribute('label') ?? e.textContent(), selected: flag('selected'), text: (e) => e.textContent(),
      value: (e) => e.getAttribute('value') ?? e.textContent(),
    };
    const chosen = (e) => {
      const options = e.querySelectorAll('option');
      const marked = options.filter((o) => o.hasAttribute('selected'));
      if (e.hasAttribute('multiple')) return marked;
      if (marked.length) return [marked.at(-1)];
      const free = options.find((o) => !option.disabled(o));
      return free ? [free] : [];
    };
    const anchor = {
      accessKey: text('accesskey'), download: text('download'), hash: relative('hash'), host: (e) => part('host')(e), hostname: part('hostname'),
      href: link('href'), hrefLang: text('hreflang'), origin: part('origin'), password: part('password'), pathname: relative('pathname'), port: part('port'),
      protocol: (e) => part('protocol')(e).replace(/:$/, '') || ':', referrerPolicy: one('referrerpolicy', POLICIES, ''), rel: text('rel'), relList,
      search: relative('search'), target: text('target'), text: (e) => e.textContent(), type: text('type'), username: part('username'),
    };
    const media = {
      autoplay: flag('autoplay'), controls: flag('controls'), crossOrigin, currentSrc: link('src'), defaultMuted: flag('muted'), loop: flag('loop'),
      mediaGroup: text('mediagroup'), muted: flag('muted'), preload: one('preload', ['auto', 'metadata', 'none'], 'auto'), src: link('src'), textTracks: all('track'),
    };
    const field = {
      accessKey: text('accesskey'), autofocus: flag('autofocus'), disabled: flag('disabled'), form, formAction: link('formaction'),
      formEnctype: one('formenctype', ENCODINGS, ENCODINGS[0]), formMethod: one('formmethod', ['get', 'post'], 'get'), formNoValidate: flag('formnovalidate'),
      formTarget: text('formtarget'), labels, name: text('name'), tabIndex: whole('tabindex'),
    };
    const TYPES = ['text', 'button', 'checkbox', 'color', 'date', 'datetime-local', 'email', 'file', 'hidden', 'image', 'month', 'number', 'password', 'radio', 'range', 'reset', 'search', 'submit', 'tel', 'time', 'url', 'week'];
    const rows = (e) => [...e.querySelectorAll('thead > tr'), ...e.querySelectorAll('tbody > tr'), ...e.querySelectorAll('tfoot > tr')].filter((row) => up(row, 'table').isSameNode(e));
    const place = (list, e) => Math.max(0, list.findIndex((other) => other.isSameNode(e)));
    const cell = {
      cellIndex: (e) => place(e.parentNode().children(), e), colSpan: whole('colspan', 1), headers: text('headers'), rowSpan: whole('rowspan', 1),
    };
    const section = { rows: (e) => e.children().filter((child) => child.nodeName() === 'tr') };
    const amount = (e, name, fallback) => { const value = Number(e.getAttribute(name) ?? NaN); return Number.isFinite(value) ? value : fallback; };
    const progressed = (e) => { const max = amount(e, 'max', 1); return Math.max(0, Math.min(1, amount(e, 'value', 0) / (max > 0 ? max : 1))); };
    const mod = { cite: link('cite'), datetime: text('datetime') };
    const TABLE = {
      a: anchor, area: anchor, audio: media, video: media,
      base: { href: text('href'), target: text('target') },
      button: { ...field, type: one('type', ['submit', 'button', 'menu', 'reset'], 'submit'), value: text('value') },
      canvas: { height: whole('height', 150), width: whole('width', 150) },
      data: { value: text('value') },
      datalist: { options: all('option') },
      embed: { height: text('height'), src: link('src'), type: text('type'), width: text('width') },
      fieldset: { disabled: flag('disabled'), elements: all('input,select,button,textarea'), form, name: text('name'), type: fixed('fieldset'), validity: fixed(undefined) },
      form: {
        acceptCharset: text('accept-charset'), action: (e) => link('action')(e), autocomplete: one('autocomplete', ['on', 'off'], 'on'),
        elements: all('input,select,button,textarea,fieldset'), encoding: one('enctype', ENCODINGS, ENCODINGS[0]), enctype: one('enctype', ENCODINGS, ENCODINGS[0]),
        length: (e) => e.querySelectorAll('input,select,button,textarea,fieldset').length, method: one('method', ['get', 'post'], 'get'), name: text('name'), noValidate: flag('novalidate'), target: text('target'),
      },
      iframe: { allowfullscreen: flag('allowfullscreen'), height: text('height'), name: text('name'), referrerPolicy: one('referrerpolicy', POLICIES, ''), src: link('src'), width: text('width') },
      img: {
        alt: text('alt'), crossOrigin, currentSrc: link('src'), height: whole('height'), isMap: flag('ismap'), name: text('name'), referrerPolicy: one('referrerpolicy', POLICIES, ''),
        sizes: text('sizes'), src: link('src'), srcset: text('srcset'), useMap: text('usemap'), width: whole('width'),
      },
      input: {
        ...field, accept: text('accept'), alt: text('alt'), autocomplete: one('autocomplete', ['on', 'off'], 'on'), checked: flag('checked'), defaultChecked: flag('checked'),
        defaultValue: text('value'), dirName: text('dirname'), height: text('height'), list: (e) => whose(e, e.getAttribute('list')), max: text('max'), maxLength: whole('maxlength', -1),
        min: text('min'), multiple: flag('multiple'), pattern: text('pattern'), placeholder: text('placeholder'), readonly: flag('readonly'), required: flag('required'),
        size: whole('size'), src: link('src'), step: text('step'), type: one('type', TYPES, 'text'), value: text('value'), width: text('width'),
      },
      keygen: { autofocus: flag('autofocus'), challenge: text('challenge'), disabled: flag('disabled'), form, keytype: one('keytype', ['RSA', 'DSA', 'EC'], 'RSA'), labels, name: text('name'), type: fixed('keygen') },
      label: { control: (e) => (e.hasAttribute('for') ? whose(e, e.getAttribute('for')) : e.querySelector('button,input:not([type=hidden]),keygen,meter,output,progress,select,textarea')), form: (e) => { const control = TABLE.label.control(e); return control && form(control); }, htmlFor: text('for') },
      legend: { accessKey: text('accesskey'), form },
      li: { type: one('type', ['1', 'a', 'A', 'i', 'I', 'disc', 'square', 'circle'], ''), value: whole('value') },
      link: { crossOrigin, href: link('href'), hreflang: text('hreflang'), media: text('media'), referrerPolicy: one('referrerpolicy', POLICIES, ''), rel: text('rel'), relList, target: text('target'), type: text('type') },
      map: { areas: all('area'), images: (e) => e.ownerDocument().querySelectorAll('img[usemap]').filter((img) => img.getAttribute('usemap') === '#' + (e.getAttribute('name') ?? '')), name: text('name') },
      meta: { content: text('content'), httpEquiv: one('http-equiv', ['content-type', 'default-style', 'refresh'], 'content-type'), name: text('name') },
      meter: { high: whole('high'), labels, low: whole('low'), max: whole('max'), min: whole('min'), optimum: whole('optimum') },
      ins: mod, del: mod,
      object: { data: link('data'), form, height: text('height'), name: text('name'), tabIndex: whole('tabindex'), type: text('type'), typeMustMatch: flag('typemustmatch'), useMap: text('usemap'), width: text('width') },
      ol: { reversed: flag('reversed'), start: whole('start'), type: one('type', ['1', 'a', 'A', 'i', 'I'], '1') },
      optgroup: { disabled: flag('disabled'), label: text('label') },
      option,
      output: { defaultValue: (e) => e.textContent(), form, htmlFor: text('for'), labels, name: text('name'), type: fixed('output'), value: (e) => e.textContent() },
      param: { name: text('name'), value: text('value') },
      pre: { name: text('name'), value: text('value') },
      progress: { labels, max: (e) => { const max = amount(e, 'max', 1); return max > 0 ? max : 1; }, position: (e) => (e.hasAttribute('value') ? progressed(e) : -1), value: progressed },
      q: { cite: link('cite') },
      script: { async: flag('async'), charset: text('charset'), crossOrigin: text('crossorigin'), defer: flag('defer'), noModule: flag('nomodule'), src: link('src'), text: (e) => e.textContent(), type: text('type') },
      select: {
        autofocus: flag('autofocus'), disabled: flag('disabled'), form, labels, length: (e) => e.querySelectorAll('option').length, multiple: flag('multiple'), name: text('name'),
        options: all('option'), required: flag('required'), selectedIndex: (e) => { const [first] = chosen(e); return first ? e.querySelectorAll('option').findIndex((o) => o.isSameNode(first)) : -1; },
        selectedOptions: chosen, size: (e) => (e.hasAttribute('multiple') ? 4 : 1), tabIndex: whole('tabindex'), type: (e) => (e.hasAttribute('multiple') ? 'select-multiple' : 'select'),
        value: (e) => { const [first] = chosen(e); return first ? option.value(first) : ''; },
      },
      source: { keySystem: text('keysystem'), media: text('media'), sizes: text('sizes'), src: link('src'), srcset: text('srcset'), type: text('type') },
      style: { media: text('media'), type: text('type', 'text/css') },
      table: { caption: first('caption'), rows, sortable: flag('sortable'), tBodies: all('tbody'), tFoot: first('tfoot'), tHead: first('thead') },
      col: { span: whole('span', 1) },
      td: cell, th: { ...cell, abbr: text('abbr'), scope: one('scope', ['row', 'col', 'rowgroup', 'colgroup'], ''), sorted: flag('sorted') },
      tr: { cells: (e) => e.children().filter((child) => ['td', 'th'].includes(child.nodeName())), rowIndex: (e) => { const table = up(e, 'table'); return table ? place(rows(table), e) : 0; }, sectionRowIndex: (e) => place(e.parentNode().children(), e) },
      tbody: section, thead: section, tfoot: section,
      textarea: {
        accessKey: text('accesskey'), autocapitalize: one('autocapitalize', ['sentences', 'none', 'off', 'characters', 'words'], 'sentences'), autocomplete: one('autocomplete', ['on', 'off'], 'on'),
        autofocus: flag('autofocus'), cols: whole('cols'), defaultValue: (e) => e.textContent(), disabled: flag('disabled'), form, labels, length: (e) => e.textContent().length, maxLength: whole('maxlength'), name: text('name'),
        placeholder: text('placeholder'), readOnly: flag('readonly'), required: flag('required'), rows: whole('rows'), tabIndex: whole('tabindex'), type: fixed('textarea'), value: (e) => e.textContent(), wrap: one('wrap', ['soft', 'hard', 'off'], 'soft'),
      },
      time: { datetime: text('datetime') },
      title: { text: (e) => e.textContent() },
      track: { default: flag('default'), kind: one('kind', ['subtitle', 'captions', 'descriptions', 'chapters', 'metadata'], 'subtitle'), label: text('label'), src: link('src'), srclang: text('srclang') },
      ul: { type: text('type') },
    };
    const classes = Object.create(null);
    for (const name of Object.keys(TABLE)) {
      classes[name] = class extends Element {};
      for (const method of Object.keys(TABLE[name])) {
        const call = TABLE[name][method];
        Object.defineProperty(classes[name].prototype, method, { value() { return call(this); }, configurable: true, writable: true });
      }
    }
    const make = (page, id, url) => new (classes[native.name(page, id)] ?? Element)(page, id, url);
    native.publish(number);
    return make;
  };
})
