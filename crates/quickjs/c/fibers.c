/* Fibers: see fibers.h. quickjs.c includes this file, whose functions it needs. */

#include "modules.c"
#include "objects.c"

_Static_assert(offsetof(JSMallocBlockHeader, user_data) - offsetof(JSMallocBlockHeader, ref_count) == 4,
               "src/reference_count.rs finds the counts there");

/* What a fiber has of its own. While the fiber is swapped in, it holds what the context and the runtime have of their own. */
struct JSFiber {
    struct JSStackFrame *current_stack_frame;
    uintptr_t stack_top;
    uintptr_t stack_limit;
    JSValue global_obj;
    JSValue global_var_obj;
    uint64_t random_state;
    size_t malloc_limit; /* the runtime's limit, while the fiber is in */
    struct list_head loaded_modules;
    struct list_head job_list;
};

/* Moves all elements; 'to' has none, and may be uninitialized. */
static void js_move_list(struct list_head *to, struct list_head *from)
{
    init_list_head(to);
    if (list_empty(from))
        return;
    to->next = from->next;
    to->prev = from->prev;
    to->next->prev = to;
    to->prev->next = to;
    init_list_head(from);
}

static void js_swap_lists(struct list_head *a, struct list_head *b)
{
    struct list_head c;

    if (list_empty(a) && list_empty(b))
        return;
    js_move_list(&c, a);
    js_move_list(a, b);
    js_move_list(b, &c);
}

#define JS_FIBER_SWAP(type, a, b) do { type c_ = (a); (a) = (b); (b) = c_; } while (0)

JSFiber *JS_NewFiber(JSContext *ctx)
{
    JSFiber *f;

    assert(!ctx->fiber);
    f = js_mallocz(ctx, sizeof(*f));
    if (!f)
        return NULL;
    init_list_head(&f->loaded_modules);
    init_list_head(&f->job_list);
    f->random_state = xorshift64star(&ctx->random_state) | 1;
    f->global_obj = JS_NewObjectProto(ctx, ctx->global_obj);
    f->global_var_obj = JS_NewObjectProto(ctx, ctx->global_var_obj);
    if (JS_IsException(f->global_obj) || JS_IsException(f->global_var_obj) ||
        JS_DefinePropertyValue(ctx, f->global_obj, JS_ATOM_globalThis,
                               js_dup(f->global_obj),
                               JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE) < 0) {
        JS_FreeFiber(ctx, f);
        return NULL;
    }
    return f;
}

size_t JS_HeldMemory(JSContext *ctx)
{
    return ctx->rt->malloc_state.malloc_size;
}

bool JS_TakeOutOfMemory(JSContext *ctx)
{
    bool ran_out = ctx->rt->ran_out_of_memory;

    ctx->rt->ran_out_of_memory = false;
    return ran_out;
}

void JS_SwapFiber(JSContext *ctx, JSFiber *f, size_t memory_max)
{
    JSRuntime *rt = ctx->rt;
    JSMallocState *ms = &rt->malloc_state;

    assert(!ctx->fiber || ctx->fiber == f);
    ctx->fiber = ctx->fiber ? NULL : f;
    if (ctx->fiber) {
        size_t left = ms->malloc_limit - ms->malloc_size;
        f->malloc_limit = ms->malloc_limit;
        /* What other fibers ran out of is not this one's. */
        rt->ran_out_of_memory = false;
        if (ms->malloc_size < ms->malloc_limit && left > memory_max)
            ms->malloc_limit = ms->malloc_size + memory_max;
    } else {
        ms->malloc_limit = f->malloc_limit;
    }
    JS_FIBER_SWAP(struct JSStackFrame *, rt->current_stack_frame, f->current_stack_frame);
    JS_FIBER_SWAP(uintptr_t, rt->stack_top, f->stack_top);
    JS_FIBER_SWAP(uintptr_t, rt->stack_limit, f->stack_limit);
    JS_FIBER_SWAP(JSValue, ctx->global_obj, f->global_obj);
    JS_FIBER_SWAP(JSValue, ctx->global_var_obj, f->global_var_obj);
    JS_FIBER_SWAP(uint64_t, ctx->random_state, f->random_state);
    js_swap_lists(&ctx->loaded_modules, &f->loaded_modules);
    js_swap_lists(&rt->job_list, &f->job_list);
}

void JS_FreeFiber(JSContext *ctx, JSFiber *f)
{
    struct list_head *el, *el1;
    int i;

    assert(ctx->fiber != f);
    list_for_each_safe(el, el1, &f->job_list) {
        JSJobEntry *e = list_entry(el, JSJobEntry, link);
        for(i = 0; i < e->argc; i++)
            JS_FreeValue(ctx, e->argv[i]);
        js_free(ctx, e);
    }
    list_for_each_safe(el, el1, &f->loaded_modules)
        js_free_module_def(ctx, list_entry(el, JSModuleDef, link));
    JS_FreeValue(ctx, f->global_obj);
    JS_FreeValue(ctx, f->global_var_obj);
    js_free(ctx, f);
}

/* The module of this name that the context itself has loaded; NULL if there is none, or with an exception. */
static JSModuleDef *js_context_module(JSContext *ctx, JSAtom name, JSValueConst attributes)
{
    struct list_head *el;

    /* the context's list lies in the fiber that is swapped in */
    list_for_each(el, &ctx->fiber->loaded_modules) {
        JSModuleDef *m = list_entry(el, JSModuleDef, link);
        if (m->module_name == name) {
            int eq = js_module_attributes_equal(ctx, m->attributes, attributes);
            if (eq < 0)
                return NULL;
            if (eq)
                return m;
        }
    }
    return NULL;
}

/* Returns what the fiber that is swapped in gets for a module of its context: the module itself if it is written in C, else an
   instance of the fiber's own. NULL if the context has no such module, or with an exception. */
static JSModuleDef *js_fiber_module(JSContext *ctx, JSAtom name, JSValueConst attributes)
{
    JSModuleDef *m = js_context_module(ctx, name, attributes);

    if (!m || m->init_func)
        return m;
    assert(!m->func_created);
    m = js_clone_module(ctx, m);
    if (m && js_resolve_module(ctx, m) < 0)
        return NULL;
    return m;
}

void JS_LookForInterrupts(JSContext *ctx)
{
    __atomic_store_n(&ctx->interrupt_counter, 1, __ATOMIC_RELAXED);
}
