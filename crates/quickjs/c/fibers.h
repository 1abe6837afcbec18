/* Declarations of what this crate adds to QuickJS. quickjs.c includes this file above its first struct.
 *
 * A fiber is a thread of JavaScript within a context. It has its own C stack, which the embedder switches; its own global
 * object, which inherits from the context's; its own instances of the modules that the context has loaded and not evaluated;
 * and its own job queue. Everything else belongs to the context and is shared: built-in objects, shapes, atoms, the bytecode
 * of functions, modules that are written in C.
 *
 * While a fiber is swapped in, the context's own state lies in the fiber. References from a fiber come from outside of the
 * heap: the garbage collector treats them as roots.
 */
#ifndef FIBERS_H
#define FIBERS_H

typedef struct JSFiber JSFiber;

/* For the embedder; src/fiber.rs says what each does. */
JS_EXTERN JSFiber *JS_NewFiber(JSContext *ctx);
JS_EXTERN void JS_SwapFiber(JSContext *ctx, JSFiber *f, size_t memory_max);
JS_EXTERN size_t JS_HeldMemory(JSContext *ctx);
JS_EXTERN bool JS_TakeOutOfMemory(JSContext *ctx);
JS_EXTERN void JS_FreeFiber(JSContext *ctx, JSFiber *f);
JS_EXTERN JSValue JS_CopyObject(JSContext *ctx, JSValueConst from);
JS_EXTERN int JS_OwnNames(JSContext *ctx, JSValueConst of, JSAtom *names, int max);
JS_EXTERN const uint8_t *JS_StringBytes(JSValueConst of, size_t *len);
JS_EXTERN void JS_LookForInterrupts(JSContext *ctx);

/* Shapes that a context keeps; the most properties of one, and characters of a name. */
#define JS_KEPT_SHAPES 256
#define JS_KEPT_SHAPE_PROPERTIES 16
#define JS_KEPT_SHAPE_NAME 64

/* For the lines that the build script adds to quickjs.c. */
static void js_keep_shape(JSContext *ctx, struct JSShape *sh, JSClassID class_id);
static void js_mark_kept_shapes(JSRuntime *rt, JSContext *ctx, JS_MarkFunc *mark_func);
static void js_free_kept_shapes(JSContext *ctx);
static bool js_is_new_property(JSValueConst of, JSAtom name);
static int js_add_property(JSContext *ctx, JSValueConst to, JSAtom name, JSValue value, int flags);
static void js_drop_module(JSContext *ctx, JSModuleDef *m);
static void js_free_dropped_module(JSRuntime *rt, JSModuleDef *m);
static void js_free_dropped_modules(JSRuntime *rt);
static void js_release_modules(JSContext *ctx, JSModuleDef **modules, int count);
static JSModuleDef *js_fiber_module(JSContext *ctx, JSAtom name, JSValueConst attributes);

/* Of quickjs.c, which defines it further down. */
static int js_resolve_module(JSContext *ctx, JSModuleDef *m);

#endif
