/* Objects and strings, looked at and made without the detours of the general functions: see fibers.h. */

JSValue JS_CopyObject(JSContext *ctx, JSValueConst from)
{
    JSObject *p, *q;
    JSShape *sh;
    JSValue obj;
    int i;

    if (JS_VALUE_GET_TAG(from) != JS_TAG_OBJECT)
        return JS_ThrowTypeErrorNotAnObject(ctx);
    p = JS_VALUE_GET_OBJ(from);
    sh = p->shape;
    if (p->class_id != JS_CLASS_OBJECT)
        return JS_ThrowTypeError(ctx, "not a plain object");
    for(i = 0; i < sh->prop_count; i++) {
        if (get_shape_prop(sh)[i].flags & JS_PROP_TMASK)
            return JS_ThrowTypeError(ctx, "not a plain object");
    }
    /* a shape that is not in the table belongs to its object */
    sh = sh->is_hashed ? js_dup_shape(sh) : js_clone_shape(ctx, sh);
    if (!sh)
        return JS_EXCEPTION;
    obj = JS_NewObjectFromShape(ctx, sh, JS_CLASS_OBJECT, NULL);
    if (JS_IsException(obj))
        return obj;
    q = JS_VALUE_GET_OBJ(obj);
    for(i = 0; i < sh->prop_count; i++)
        q->prop[i].u.value = js_dup(p->prop[i].u.value);
    return obj;
}

/* Whether a shape takes little memory, and holds nothing but short names: what a server sends must not be kept for long. */
static bool js_is_small_shape(JSContext *ctx, JSShape *sh)
{
    JSShapeProperty *prs = get_shape_prop(sh);
    int i;

    if (sh->prop_count > JS_KEPT_SHAPE_PROPERTIES)
        return false;
    for(i = 0; i < sh->prop_count; i++) {
        JSString *name;
        if (prs[i].atom == JS_ATOM_NULL || __JS_AtomIsTaggedInt(prs[i].atom))
            continue;
        name = ctx->rt->atom_array[prs[i].atom];
        if (name->atom_type != JS_ATOM_TYPE_STRING || name->len > JS_KEPT_SHAPE_NAME)
            return false;
    }
    return true;
}

/* Whether a shape like this one was made before, as far as a small table knows. What is made once only is not worth a place. */
static bool js_is_second_shape(JSContext *ctx, JSShape *sh)
{
    uint32_t *place = &ctx->made_shapes[sh->hash % countof(ctx->made_shapes)];
    bool known = *place == sh->hash;

    *place = sh->hash;
    return known;
}

/* Keeps a new shape of objects of a class, instead of the one kept longest ago: the next object that is made at the same place
   of a script finds it, though none that looks like it is left. Kept are shapes of usual objects, of functions and of the
   embedder's classes, whose prototypes rquickjs holds: no prototype that is kept so belongs to a fiber. */
static void js_keep_shape(JSContext *ctx, JSShape *sh, JSClassID class_id)
{
    JSShape **place = &ctx->kept_shapes[ctx->next_kept_shape];

    if (!sh->is_hashed ||
        (sh->proto != JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_OBJECT]) &&
         sh->proto != JS_VALUE_GET_OBJ(ctx->function_proto) &&
         class_id < JS_CLASS_INIT_COUNT) ||
        !js_is_second_shape(ctx, sh) || !js_is_small_shape(ctx, sh))
        return;
    js_free_shape_null(ctx->rt, *place);
    *place = js_dup_shape(sh);
    ctx->next_kept_shape = (ctx->next_kept_shape + 1) % JS_KEPT_SHAPES;
}

static void js_mark_kept_shapes(JSRuntime *rt, JSContext *ctx, JS_MarkFunc *mark_func)
{
    int i;

    for(i = 0; i < JS_KEPT_SHAPES; i++) {
        if (ctx->kept_shapes[i])
            mark_func(rt, &ctx->kept_shapes[i]->header);
    }
}

static void js_free_kept_shapes(JSContext *ctx)
{
    int i;

    for(i = 0; i < JS_KEPT_SHAPES; i++)
        js_free_shape_null(ctx->rt, ctx->kept_shapes[i]);
}

int JS_OwnNames(JSContext *ctx, JSValueConst of, JSAtom *names, int max)
{
    JSObject *p;
    JSShapeProperty *prs;
    uint32_t index;
    int i, count;

    if (JS_VALUE_GET_TAG(of) != JS_TAG_OBJECT)
        return -1;
    p = JS_VALUE_GET_OBJ(of);
    if (p->class_id != JS_CLASS_OBJECT)
        return -1;
    prs = get_shape_prop(p->shape);
    /* names that are numbers come first, in their order; symbols are no names */
    for(i = 0, count = 0; i < p->shape->prop_count; i++) {
        JSAtom name = prs[i].atom;
        if (name == JS_ATOM_NULL || !(prs[i].flags & JS_PROP_ENUMERABLE))
            continue;
        if (count == max || JS_AtomIsArrayIndex(ctx, &index, name) ||
            ctx->rt->atom_array[name]->atom_type != JS_ATOM_TYPE_STRING)
            return -1;
        names[count++] = name;
    }
    for(i = 0; i < count; i++)
        JS_DupAtom(ctx, names[i]);
    return count;
}

const uint8_t *JS_StringBytes(JSValueConst of, size_t *len)
{
    JSString *p;

    if (JS_VALUE_GET_TAG(of) != JS_TAG_STRING)
        return NULL;
    p = JS_VALUE_GET_STRING(of);
    if (p->is_wide_char)
        return NULL;
    *len = p->len;
    return str8(p);
}

/* Whether a property that is defined is a new one of an object without a law of its own. */
static bool js_is_new_property(JSValueConst of, JSAtom name)
{
    JSObject *p;

    if (JS_VALUE_GET_TAG(of) != JS_TAG_OBJECT)
        return false;
    p = JS_VALUE_GET_OBJ(of);
    return !p->is_exotic && p->extensible && !find_own_property1(p, name);
}

/* Adds a property for which js_is_new_property holds. Takes the value. */
static int js_add_property(JSContext *ctx, JSValueConst to, JSAtom name, JSValue value, int flags)
{
    JSProperty *pr = add_property(ctx, JS_VALUE_GET_OBJ(to), name, flags & JS_PROP_C_W_E);

    if (unlikely(!pr)) {
        JS_FreeValue(ctx, value);
        return -1;
    }
    pr->u.value = value;
    return 1;
}
