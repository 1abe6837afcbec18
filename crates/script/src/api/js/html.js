// Selection and Element of k6/html. Nodes are numbers; what they are is asked of `native`.
(function (native) {
  'use strict';
  const unique = (ids) => [...new Set(ids)];
  const refuse = (what) => { throw new Error(`invalid argument, cannot use a '${what === undefined || what === null ? '<nil>' : typeof what}' as a selector`); };
  const asFunction = (fn, name) => { if (typeof fn !== 'function') throw new Error(`the argument to ${name}() must be a function`); return fn; };
  const typed = (text) => {
    if (text === 'true') return true;
    if (text === 'false') return false;
    if (text === 'null') return undefined;
    if (text !== '' && String(Number(text)) === text) return Number(text);
    if (/^[[{]/.test(text)) { try { return JSON.parse(text); } catch { return text; } }
    return text;
  };
  const camel = (name) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
  const dashed = (name) => name.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase());
  const encoded = (text) => encodeURIComponent(text).replace(/%20/g, '+').replace(/[!'()*]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase());
  const SUBMITTED = ':is(input,select,textarea,keygen):not([type=submit],[type=button],[type=reset],[type=image],[type=file],[type=checkbox],[type=radio])';
  const CONTROLS = 'input,select,textarea,button,keygen';
  const BUTTONS = ['submit', 'image', 'reset', 'button'];

  let element;
  let number = () => undefined;
  class Selection {
    #page; #ids; #before;
    constructor(page, ids, url, before) {
      this.#page = page; this.#ids = ids; this.#before = before;
      Object.defineProperty(this, 'url', { value: url, enumerable: true });
    }
    #of(ids) { return new Selection(this.#page, ids, this.url, this); }
    #element(id) { return element(this.#page, id, this.url); }
    #matching(ids, what) {
      if (typeof what === 'string') return native.matches(this.#page, ids, what);
      if (what instanceof Selection) return ids.filter((id) => what.#ids.includes(id));
      if (typeof what === 'function') return ids.filter((id, i) => what(i, this.#of([id])));
      return refuse(what);
    }
    #filtered(ids, filter) { return this.#of(filter === undefined ? ids : this.#matching(ids, filter)); }
    #along(way, until) {
      const stop = until === undefined ? () => false
        : typeof until === 'string' ? (id) => native.matches(this.#page, [id], until).length > 0
          : until instanceof Selection ? (id) => until.#ids.includes(id) : refuse(until);
      const found = [];
      for (const start of this.#ids) {
        for (let id = native.step(this.#page, start, way); id !== undefined && id !== null && !stop(id); id = native.step(this.#page, id, way)) {
          if (native.kind(this.#page, id) === 1) found.push(id);
        }
      }
      return unique(found);
    }
    #one(way) {
      return unique(this.#ids.map((id) => native.step(this.#page, id, way)).filter((id) => id !== undefined && id !== null && native.kind(this.#page, id) === 1));
    }

    add(what) {
      if (typeof what === 'string') return this.#of(unique([...this.#ids, ...native.find(this.#page, [0], what)]));
      if (what instanceof Selection) return this.#of(unique([...this.#ids, ...what.#ids]));
      const id = number(what);
      return id === undefined ? refuse(what) : this.#of(unique([...this.#ids, id]));
    }
    attr(name, fallback) {
      const value = this.#ids.length ? native.attribute(this.#page, this.#ids[0], String(name)) : undefined;
      return value === undefined || value === null ? fallback : value;
    }
    children(filter) { return this.#filtered(unique(this.#ids.flatMap((id) => native.children(this.#page, id, true))), filter); }
    closest(what) {
      const found = this.#ids.map((start) => {
        for (let id = start; id !== undefined && id !== null; id = native.step(this.#page, id, 'parent')) {
          if (this.#matching([id], what).length) return id;
        }
        return -1;
      });
      return this.#of(unique(found.filter((id) => id >= 0)));
    }
    contents() { return this.#of(unique(this.#ids.flatMap((id) => native.children(this.#page, id, false)))); }
    data(name) {
      if (!this.#ids.length) return undefined;
      if (name !== undefined) {
        const value = native.attribute(this.#page, this.#ids[0], 'data-' + dashed(String(name)));
        return value === undefined || value === null ? undefined : typed(value);
      }
      const all = {};
      for (const [attribute, value] of native.attributes(this.#page, this.#ids[0])) {
        if (attribute.startsWith('data-')) all[camel(attribute.slice(5))] = typed(value);
      }
      return all;
    }
    each(fn) { asFunction(fn, 'each'); this.#ids.forEach((id, i) => { fn(i, this.#element(id)); }); return this; }
    end() { return this.#before ?? new Selection(this.#page, [], this.url); }
    eq(i) { const id = this.#ids.at(i); return this.#of(id === undefined ? [] : [id]); }
    filter(what) { return this.#of(this.#matching(this.#ids, what)); }
    find(what) {
      if (typeof what === 'string') return this.#of(native.find(this.#page, this.#ids, what));
      if (what instanceof Selection) return this.#of(what.#ids.filter((id) => this.#holds(id)));
      return refuse(what);
    }
    #holds(id) {
      for (let up = native.step(this.#page, id, 'parent'); up !== undefined && up !== null; up = native.step(this.#page, up, 'parent')) {
        if (this.#ids.includes(up)) return true;
      }
      return false;
    }
    first() { return this.eq(0); }
    get(i) {
      if (i === undefined) return this.#ids.map((id) => this.#element(id));
      const id = this.#ids.at(i);
      return id === undefined ? undefined : this.#element(id);
    }
    has(what) { return this.#of(this.#ids.filter((id) => this.#of([id]).find(what).size() > 0)); }
    html() { return this.#ids.length ? native.html(this.#page, this.#ids[0]) : ''; }
    index(what) {
      if (!this.#ids.length) return -1;
      if (what === undefined) {
        const parent = native.step(this.#page, this.#ids[0], 'parent');
        return native.children(this.#page, parent, true).indexOf(this.#ids[0]);
      }
      if (typeof what === 'string') return native.find(this.#page, [0], what).indexOf(this.#ids[0]);
      if (what instanceof Selection) return what.#ids.length ? this.#ids.indexOf(what.#ids[0]) : -1;
      const id = number(what);
      return id === undefined ? refuse(what) : this.#ids.indexOf(id);
    }
    is(what) { return this.#matching(this.#ids, what).length > 0; }
    last() { return this.eq(-1); }
    map(fn) { asFunction(fn, 'map'); return this.#ids.map((id, i) => fn(i, this.#of([id]))); }
    next(filter) { return this.#filtered(this.#one('nextElement'), filter); }
    nextAll(filter) { return this.#filtered(this.#along('nextElement'), filter); }
    nextUntil(until, filter) { return this.#filtered(this.#along('nextElement', until), filter); }
    not(what) { const out = new Set(this.#matching(this.#ids, what)); return this.#of(this.#ids.filter((id) => !out.has(id))); }
    parent(filter) { return this.#filtered(this.#one('parent'), filter); }
    parents(filter) { return this.#filtered(this.#along('parent'), filter); }
    parentsUntil(until, filter) { return this.#filtered(this.#along('parent', until), filter); }
    prev(filter) { return this.#filtered(this.#one('previousElement'), filter); }
    prevAll(filter) { return this.#filtered(this.#along('previousElement'), filter); }
    prevUntil(until, filter) { return this.#filtered(this.#along('previousElement', until), filter); }
    serializeArray() {
      const fields = native.matches(this.#page, this.#ids, 'form').length ? this.find(SUBMITTED) : this.filter(SUBMITTED);
      const named = fields.#ids.filter((id) => native.attribute(this.#page, id, 'name'));
      return named.map((id) => ({ name: native.attribute(this.#page, id, 'name'), value: this.#of([id]).val() }));
    }
    serializeObject() {
      const all = {};
      for (const { name, value } of this.serializeArray()) all[name] = value;
      return all;
    }
    serialize() {
      const all = this.serializeObject();
      const pairs = Object.keys(all).sort().flatMap((name) => [].concat(all[name]).map((value) => [name, value]));
      return pairs.map(([name, value]) => `${encoded(name)}=${encoded(value ?? '')}`).join('&');
    }
    siblings(filter) {
      const found = this.#ids.flatMap((id) => {
        const parent = native.step(this.#page, id, 'parent');
        return parent === undefined || parent === null ? [] : native.children(this.#page, parent, true).filter((other) => other !== id);
      });
      return this.#filtered(unique(found), filter);
    }
    single(what) { return this.find(what).first(); }
    // What a browser sends of the first form (HTML, 4.10.21.3 and 4), with the button that `submit` selects, else its first one.
    ['\u0001submission'](submit) {
      const page = this.#page, form = this.#ids[0];
      const attribute = (id, name) => native.attribute(page, id, name) ?? undefined;
      const has = (id, name) => attribute(id, name) !== undefined;
      const find = (ids, what) => native.find(page, ids, what);
      const inside = new Set(find([form], CONTROLS));
      const off = new Set(find([0], 'fieldset[disabled]').flatMap((set) => {
        const legend = new Set(find([set], 'legend').slice(0, 1).flatMap((id) => find([id], CONTROLS)));
        return find([set], CONTROLS).filter((id) => !legend.has(id));
      }));
      const owner = (id) => (has(id, 'form') ? attribute(id, 'form') === attribute(form, 'id') : inside.has(id));
      const controls = find([0], CONTROLS).filter((id) => owner(id) && !has(id, 'disabled') && !off.has(id));
      const kind = (id) => {
        const tag = native.name(page, id);
        return tag === 'input' || tag === 'button' ? (attribute(id, 'type') ?? (tag === 'button' ? 'submit' : 'text')).toLowerCase() : tag;
      };
      const isSubmit = (id) => ['submit', 'image'].includes(kind(id));
      const chosen = submit === undefined ? controls.find(isSubmit) : find([form], submit)[0] ?? controls.find((id) => native.matches(page, [id], submit).length);
      const radios = new Map();
      for (const id of controls) if (kind(id) === 'radio' && has(id, 'checked')) radios.set(attribute(id, 'name'), id);
      const entries = [];
      for (const id of new Set(chosen === undefined || controls.includes(chosen) ? controls : [...controls, chosen])) {
        const name = attribute(id, 'name'), type = kind(id), value = attribute(id, 'value');
        const add = (given) => { if (name) entries.push([name, given]); };
        if (type === 'image' && id === chosen) {
          for (const axis of ['x', 'y']) entries.push([name ? `${name}.${axis}` : axis, '0']);
        } else if (BUTTONS.includes(type)) {
          if (id === chosen) add(value ?? '');
        } else if (type === 'checkbox' || type === 'radio') {
          if (has(id, 'checked') && (type === 'checkbox' || radios.get(name) === id)) add(value ?? 'on');
        } else if (type === 'select') {
          const shut = (option) => has(option, 'disabled') || find([id], 'optgroup[disabled] option').includes(option);
          const all = find([id], 'option'), selected = all.filter((option) => has(option, 'selected'));
          const one = selected.at(-1) ?? all.find((option) => !shut(option));
          const sent = has(id, 'multiple') ? selected : one === undefined ? [] : [one];
          const text = (option) => attribute(option, 'value') ?? native.text(page, [option]).trim().replace(/\s+/g, ' ');
          for (const option of sent) if (!shut(option)) add(text(option));
        } else if (type === 'textarea') {
          add(native.text(page, [id]).replace(/\r\n|\r|\n/g, '\r\n'));
        } else if (type !== 'file') {
          add(type === 'hidden' && name === '_charset_' ? 'UTF-8' : value ?? '');
        }
      }
      const fields = {};
      for (const [name, value] of entries) fields[name] = Object.hasOwn(fields, name) ? [].concat(fields[name], value) : value;
      const of = (name) => (chosen === undefined ? undefined : attribute(chosen, `form${name}`)) ?? attribute(form, name);
      return { action: of('action'), method: of('method'), enctype: of('enctype'), fields };
    }
    size() { return this.#ids.length; }
    slice(from, to) { return this.#of(this.#ids.slice(from, to)); }
    text() { return native.text(this.#page, this.#ids); }
    toArray() { return this.#ids.map((id) => this.#of([id])); }
    val() {
      if (!this.#ids.length) return undefined;
      const id = this.#ids[0];
      const attribute = (name, of = id) => native.attribute(this.#page, of, name);
      const value = (of) => attribute('value', of) ?? native.text(this.#page, [of]);
      switch (native.name(this.#page, id)) {
        case 'input': return attribute('value') ?? (['checkbox', 'radio'].includes((attribute('type') ?? '').toLowerCase()) ? 'on' : '');
        case 'button': return attribute('value') ?? '';
        case 'option': return value(id);
        case 'textarea': return native.text(this.#page, [id]);
        case 'select': {
          const chosen = native.find(this.#page, [id], 'option[selected]');
          if (typeof attribute('multiple') === 'string') return chosen.map(value);
          const options = native.find(this.#page, [id], 'option');
          const one = chosen.at(-1) ?? options[0];
          return one === undefined ? undefined : value(one);
        }
        default: return undefined;
      }
    }
  }

  element = native.elements({ ...native, Selection, publish(found) { number = found; } });
  return function parseHTML(text, url = '') {
    return new Selection(native.parse(text), [0], String(url ?? ''));
  };
})
