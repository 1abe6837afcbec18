//! The lines that are added to QuickJS's sources, and where. They call what the files in `c/` define; an addition of more than some
//! lines belongs there.

use crate::splice::{Addition, Place};

/// What is added to the source of this name.
pub(crate) fn of(name: &str) -> Option<&'static [Addition]> {
    match name {
        "quickjs.c" => Some(&QUICKJS),
        "libunicode.c" => Some(&LIBUNICODE),
        _ => None,
    }
}

/// The marks of one letter are sorted in the square of the time that they take to read. No text has many: the standard's own
/// stream-safe format ends at 30 (UAX 15, 13). More than these are sorted in parts.
const LIBUNICODE: [Addition; 1] = [Addition {
    definition: "void sort_cc(",
    place: Place::Instead("while (j < len) {"),
    lines: "            while (j < len && j - start < 1024) {",
}];

/// Every addition to `quickjs.c`, in the order of the source.
const QUICKJS: [Addition; 49] = [
    // Fibers, and the records of modules that outlive their fibers: `c/fibers.h` and `c/modules.c` say what both are.
    Addition {
        definition: "struct JSRuntime {",
        place: Place::Above,
        lines: "#include \"fibers.h\"\n",
    },
    Addition {
        definition: "struct JSRuntime {",
        place: Place::After("struct list_head job_list; /* list of JSJobEntry.link */"),
        lines: "    struct list_head dropped_modules; /* list of JSModuleDef.link */",
    },
    // Where memory runs out, what is thrown may be null, and a promise may never be settled: the reason is noted.
    Addition {
        definition: "struct JSRuntime {",
        place: Place::After("bool in_out_of_memory;"),
        lines: "    bool ran_out_of_memory; /* see JS_TakeOutOfMemory */",
    },
    Addition {
        definition: "struct JSContext {",
        place: Place::After("struct list_head loaded_modules; /* list of JSModuleDef.link */"),
        lines: "    JSFiber *fiber; /* the one that is swapped in, or NULL */",
    },
    Addition {
        definition: "struct JSModuleDef {",
        place: Place::After("JSValue private_value; /* private value for C modules */"),
        lines: "    bool dropped; /* see js_drop_module */",
    },
    Addition {
        definition: "JSRuntime *JS_NewRuntime2(",
        place: Place::After("init_list_head(&rt->job_list);"),
        lines: "    init_list_head(&rt->dropped_modules);",
    },
    Addition {
        definition: "void JS_FreeRuntime(",
        place: Place::After("assert(list_empty(&rt->gc_obj_list));"),
        lines: "    js_free_dropped_modules(rt);",
    },
    // Shapes outlive their objects for a while: `c/objects.c`.
    Addition {
        definition: "struct JSContext {",
        place: Place::After("JSShape *array_shape;   /* initial shape for Array objects */"),
        lines: "    JSShape *kept_shapes[JS_KEPT_SHAPES]; /* see js_keep_shape */
    int next_kept_shape;
    uint32_t made_shapes[JS_KEPT_SHAPES]; /* hashes: see js_is_second_shape */",
    },
    Addition {
        definition: "void JS_MarkContext(",
        place: Place::Before("if (ctx->array_shape)"),
        lines: "    js_mark_kept_shapes(rt, ctx, mark_func);",
    },
    Addition {
        definition: "void JS_FreeContext(",
        place: Place::Before("js_free_shape_null(ctx->rt, ctx->array_shape);"),
        lines: "    js_free_kept_shapes(ctx);",
    },
    Addition {
        definition: "JSValue JS_NewObjectProtoClass(",
        place: Place::After("return JS_EXCEPTION;"),
        lines: "        js_keep_shape(ctx, sh, class_id);",
    },
    Addition {
        definition: "JSProperty *add_property(",
        place: Place::Before("return &p->prop[p->shape->prop_count - 1];"),
        lines: "    js_keep_shape(ctx, p->shape, p->class_id);",
    },
    // A property that is new, as most that are defined are, is added without a comparison with one that is there.
    Addition {
        definition: "int JS_DefinePropertyValue(",
        place: Place::After("int ret;"),
        lines: "    if (js_is_new_property(this_obj, prop))
        return js_add_property(ctx, this_obj, prop, val, flags);",
    },
    // A property that makes its value on the first read refers to the module of the value.
    Addition {
        definition: "void js_autoinit_free(",
        place: Place::Before("JS_FreeContext(js_autoinit_get_realm(pr));"),
        lines: "    if (js_autoinit_get_id(pr) == JS_AUTOINIT_ID_MODULE_NS)
        JS_FreeValueRT(rt, JS_MKPTR(JS_TAG_MODULE, pr->u.init.opaque));",
    },
    Addition {
        definition: "int JS_DefineAutoInitProperty(",
        place: Place::After("pr->u.init.opaque = opaque;"),
        lines: "    if (id == JS_AUTOINIT_ID_MODULE_NS)
        JS_REF_COUNT(opaque)++;",
    },
    Addition {
        definition: "void js_free_value_rt(",
        place: Place::Instead("abort(); /* never freed here */"),
        lines: "        js_free_dropped_module(rt, JS_VALUE_GET_PTR(v));",
    },
    Addition {
        definition: "void js_free_module_def(",
        place: Place::Instead("js_free(ctx, m);"),
        lines: "    js_drop_module(ctx, m);",
    },
    Addition {
        definition: "JSModuleDef *js_host_resolve_imported_module(",
        place: Place::After("m = js_find_loaded_module(ctx, module_name, attributes);"),
        lines: "    if (!m && ctx->fiber && !JS_HasException(ctx))
        m = js_fiber_module(ctx, module_name, attributes);",
    },
    Addition {
        definition: "JSValue JS_ThrowOutOfMemory(",
        place: Place::After("JSRuntime *rt = ctx->rt;"),
        lines: "    rt->ran_out_of_memory = true;",
    },
    Addition {
        definition: "typedef struct JSResolveEntry {",
        place: Place::Above,
        lines: "#include \"fibers.c\"\n",
    },
    Addition {
        definition: "JSValue JS_GetModuleNamespace(",
        place: Place::After("JSValue val;"),
        lines: "        if (m->dropped)
            return JS_ThrowReferenceError(ctx, \"the virtual user of this module has ended\");",
    },
    // A module of the list may wait while it is run, and the fiber of the modules after it be freed meanwhile.
    Addition {
        definition: "int gather_available_ancestors(",
        place: Place::Before("exec_list->tab[exec_list->count++] = m;"),
        lines: "                JS_REF_COUNT(m)++;",
    },
    Addition {
        definition: "JSValue js_async_module_execution_fulfilled(",
        place: Place::BeforeEach(2, "js_free(ctx, exec_list->tab);"),
        lines: "    js_release_modules(ctx, exec_list->tab, exec_list->count);",
    },
    // Another thread may ask for a look (JS_LookForInterrupts): the counter is read and written as one, and what a step costs is of
    // no account. A request that comes between the two is lost, and comes again.
    Addition {
        definition: "int __js_poll_interrupts(",
        place: Place::Instead("ctx->interrupt_counter = JS_INTERRUPT_COUNTER_INIT;"),
        lines: "    __atomic_store_n(&ctx->interrupt_counter, JS_INTERRUPT_COUNTER_INIT, __ATOMIC_RELAXED);",
    },
    Addition {
        definition: "int js_poll_interrupts(",
        place: Place::Instead("if (unlikely(--ctx->interrupt_counter <= 0)) {"),
        lines: "    int left = __atomic_load_n(&ctx->interrupt_counter, __ATOMIC_RELAXED) - 1;

    __atomic_store_n(&ctx->interrupt_counter, left, __ATOMIC_RELAXED);
    if (unlikely(left <= 0)) {",
    },
    // What loops within one call looks too: searches of texts, matches, iterators, JSON, and the parser of what a VU compiles (what
    // is compiled before the test has no limit but its own).
    Addition {
        definition: "int string_indexof(",
        place: Place::Instead("static int string_indexof(JSString *p1, JSString *p2, int from)"),
        lines: "/* -2: interrupted */
static int string_indexof(JSContext *ctx, JSString *p1, JSString *p2, int from)",
    },
    Addition {
        definition: "int string_indexof(",
        place: Place::Before("if (!string_cmp(p1, p2, j + 1, 1, len2 - 1))"),
        lines: "        if (js_poll_interrupts(ctx))
            return -2;",
    },
    Addition {
        definition: "JSValue js_string_replace(",
        place: Place::Instead("pos = string_indexof(sp, searchp, endOfLastMatch);"),
        lines: "            pos = string_indexof(ctx, sp, searchp, endOfLastMatch);",
    },
    Addition {
        definition: "JSValue js_string_replace(",
        place: Place::Before("if (pos < 0) {"),
        lines: "        if (pos == -2 || js_poll_interrupts(ctx))
            goto exception;",
    },
    Addition {
        definition: "JSValue js_string_split(",
        place: Place::Instead("e = string_indexof(sp, rp, q);"),
        lines: "        e = string_indexof(ctx, sp, rp, q);
        if (e == -2 || js_poll_interrupts(ctx))
            goto exception;",
    },
    Addition {
        definition: "JSValue js_string_indexOf(",
        place: Place::Before("if (!string_cmp(p, p1, i, 0, v_len)) {"),
        lines: "            if (js_poll_interrupts(ctx))
                goto fail;",
    },
    Addition {
        definition: "JSValue js_string_includes(",
        place: Place::Before("if (!string_cmp(p, p1, i, 0, v_len)) {"),
        lines: "            if (js_poll_interrupts(ctx))
                goto fail;",
    },
    Addition {
        definition: "JSValue js_regexp_exec(",
        place: Place::After("const char *group_name_ptr;"),
        lines: "
    if (js_poll_interrupts(ctx))
        return JS_EXCEPTION;",
    },
    Addition {
        definition: "JSValue JS_IteratorNext(",
        place: Place::After("int done;"),
        lines: "
    if (js_poll_interrupts(ctx)) {
        *pdone = false;
        return JS_EXCEPTION;
    }",
    },
    Addition {
        definition: "int js_json_to_str(",
        place: Place::Before("if (js_check_stack_overflow(ctx->rt, 0)) {"),
        lines: "    if (js_poll_interrupts(ctx))
        goto exception;",
    },
    Addition {
        definition: "int next_token(",
        place: Place::Before("if (js_check_stack_overflow(s->ctx->rt, 1000)) {"),
        lines: "    if (s->ctx->fiber && js_poll_interrupts(s->ctx))
        return -1;",
    },
    // The functions of arrays loop over as many elements as an object claims to have: each step looks for an interrupt.
    Addition {
        definition: "int JS_TryGetPropertyInt64(",
        place: Place::After("int present;"),
        lines: "
    if (js_poll_interrupts(ctx)) {
        *pval = JS_EXCEPTION;
        return -1;
    }",
    },
    // Beyond what an array has in one piece, that is where the length is only claimed.
    Addition {
        definition: "JSValue JS_GetPropertyInt64(",
        place: Place::Before("prop = JS_NewAtomInt64(ctx, idx);"),
        lines: "    if (js_poll_interrupts(ctx))
        return JS_EXCEPTION;",
    },
    Addition {
        definition: "int JS_SetPropertyInt64(",
        place: Place::Before("if ((uint64_t)idx <= INT32_MAX) {"),
        lines: "    if (js_poll_interrupts(ctx)) {
        JS_FreeValue(ctx, val);
        return -1;
    }",
    },
    Addition {
        definition: "int JS_DeletePropertyInt64(",
        place: Place::After("int res;"),
        lines: "
    if (js_poll_interrupts(ctx))
        return -1;",
    },
    Addition {
        definition: "JSValue js_array_from(",
        place: Place::After("for(k = 0; k < len; k++) {"),
        lines: "            if (js_poll_interrupts(ctx))
                goto exception;",
    },
    Addition {
        definition: "JSValue js_array_join(",
        place: Place::Before("if (i > 0) {"),
        lines: "        if (js_poll_interrupts(ctx))
            goto fail;",
    },
    // Names that a proxy lists are each looked up among all others.
    Addition {
        definition: "int js_proxy_get_own_property_names(",
        place: Place::Before("if (find_prop_key(tab, i, tab[i].atom) >= 0) {"),
        lines: "        if (js_poll_interrupts(ctx))
            goto fail;",
    },
    Addition {
        definition: "int js_proxy_get_own_property_names(",
        place: Place::Before("if (!(desc_flags & JS_PROP_CONFIGURABLE) || !is_extensible) {"),
        lines: "                if (js_poll_interrupts(ctx))
                    goto fail;",
    },
    // It ended after the last element only, also where memory was short.
    Addition {
        definition: "JSValue js_array_join(",
        place: Place::Instead("string_buffer_putc8(b, c);"),
        lines: "                if (string_buffer_putc8(b, c))
                    goto fail;",
    },
    Addition {
        definition: "JSValue js_array_join(",
        place: Place::Instead("string_buffer_concat(b, p, 0, p->len);"),
        lines: "                if (string_buffer_concat(b, p, 0, p->len))
                    goto fail;",
    },
    Addition {
        definition: "int js_array_cmp_generic(",
        place: Place::Before("if (psc->has_method) {"),
        lines: "    if (js_poll_interrupts(ctx))
        goto exception;
",
    },
    // JSON. A reviver needs the position of each value in the text, which the fast parser does not record.
    Addition {
        definition: "JSValue JS_ParseJSON_internal(",
        place: Place::Above,
        lines: "#include \"json.c\"\n",
    },
    Addition {
        definition: "JSValue JS_ParseJSON_internal(",
        place: Place::Before("js_parse_init(ctx, s, buf, buf_len, filename, 1);"),
        lines: "    if (!pr && fast_json_parse(ctx, buf, buf_len, &val))
        return val;",
    },
];
