/* The life of a module's record. quickjs.c includes this file.
 *
 * QuickJS frees the record of a module with the module. Between fibers that is too early: an unread property of a namespace
 * and a reaction of a promise refer to the record of a module, and another fiber may hold them after the module's fiber was
 * freed. So records are counted. A record whose module was freed stays, empty, until the last reference is gone, at the latest
 * until the runtime is freed.
 */

/* Frees the record, or keeps it, empty, as a module that failed. The contents are freed already. */
static void js_drop_module(JSContext *ctx, JSModuleDef *m)
{
    if (--JS_REF_COUNT(m) == 0) {
        js_free(ctx, m);
        return;
    }
    memset(m, 0, sizeof(*m)); /* the count lies before the record */
    m->dropped = true;
    m->status = JS_MODULE_STATUS_EVALUATED;
    m->eval_has_exception = true;
    m->module_ns = JS_UNDEFINED;
    m->func_obj = JS_UNDEFINED;
    m->eval_exception = JS_UNDEFINED;
    m->meta_obj = JS_UNDEFINED;
    m->promise = JS_UNDEFINED;
    m->resolving_funcs[0] = JS_UNDEFINED;
    m->resolving_funcs[1] = JS_UNDEFINED;
    m->private_value = JS_UNDEFINED;
    m->attributes = JS_UNDEFINED;
    m->cycle_root = m;
    list_add_tail(&m->link, &ctx->rt->dropped_modules);
}

/* Frees a dropped record after its last reference is gone. */
static void js_free_dropped_module(JSRuntime *rt, JSModuleDef *m)
{
    assert(m->dropped);
    list_del(&m->link);
    js_free_rt(rt, m);
}

/* Frees the dropped records whose references were never released: readers of bytecode keep some. */
static void js_free_dropped_modules(JSRuntime *rt)
{
    struct list_head *el, *el1;

    list_for_each_safe(el, el1, &rt->dropped_modules)
        js_free_rt(rt, list_entry(el, JSModuleDef, link));
}

/* Releases one reference to each of the modules. */
static void js_release_modules(JSContext *ctx, JSModuleDef **modules, int count)
{
    int i;

    for(i = 0; i < count; i++)
        JS_FreeValue(ctx, JS_MKPTR(JS_TAG_MODULE, modules[i]));
}

/* Returns another instance of a module that is not linked, with the same bytecode; NULL with an exception if memory is short. */
static JSModuleDef *js_clone_module(JSContext *ctx, const JSModuleDef *from)
{
    JSModuleDef *m;
    int i;

    m = js_new_module_def(ctx, JS_DupAtom(ctx, from->module_name));
    if (!m)
        return NULL;
    m->attributes = js_dup(from->attributes);
    m->has_tla = from->has_tla;
    m->meta_obj = js_dup(from->meta_obj);
    m->func_obj = js_dup(from->func_obj);

#define CLONE_ENTRIES(entries)                                              \
    if (from->entries##_count != 0) {                                       \
        size_t size_ = sizeof(from->entries[0]) * from->entries##_count;    \
        m->entries = js_malloc(ctx, size_);                                 \
        if (!m->entries)                                                    \
            goto fail;                                                      \
        memcpy(m->entries, from->entries, size_);                           \
        m->entries##_size = m->entries##_count = from->entries##_count;     \
    }

    CLONE_ENTRIES(req_module_entries)
    for(i = 0; i < m->req_module_entries_count; i++) {
        JSReqModuleEntry *rme = &m->req_module_entries[i];
        JS_DupAtom(ctx, rme->module_name);
        js_dup(rme->attributes);
        rme->module = NULL;
    }
    CLONE_ENTRIES(export_entries)
    for(i = 0; i < m->export_entries_count; i++) {
        JSExportEntry *me = &m->export_entries[i];
        JS_DupAtom(ctx, me->local_name);
        JS_DupAtom(ctx, me->export_name);
        assert(me->export_type != JS_EXPORT_TYPE_LOCAL || !me->u.local.var_ref);
    }
    CLONE_ENTRIES(star_export_entries)
    CLONE_ENTRIES(import_entries)
    for(i = 0; i < m->import_entries_count; i++)
        JS_DupAtom(ctx, m->import_entries[i].import_name);
#undef CLONE_ENTRIES
    return m;
 fail:
    js_free_module_def(ctx, m);
    return NULL;
}
