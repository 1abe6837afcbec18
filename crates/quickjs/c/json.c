/* Parses JSON texts in the common case. quickjs.c includes this file, whose functions it needs.
 *
 * The parser accepts a part of JSON and gives up on everything else: JS_ParseJSON_internal then starts QuickJS's own parser,
 * whose results and errors count.
 *
 * Objects of a list usually have the same keys. The parser compares each object with the one before it ("previous"). While the
 * keys are the same, in the same order, no key is looked up, and an object that has all of them is made in one piece with the
 * shape of the previous one. Short strings that are repeated are shared.
 */

enum {
    FAST_JSON_OK = 0,
    FAST_JSON_GIVE_UP = 1,
    FAST_JSON_EXCEPTION = -1,
};

/* The longest string that is shared, in bytes, and the number of strings that are remembered. */
#define FAST_JSON_SHORT 16
#define FAST_JSON_TEXTS 64

typedef struct FastJson {
    JSContext *ctx;
    const uint8_t *p, *end; /* *end is 0 */
    /* values of the arrays and objects that are not complete */
    JSValue *values;
    size_t count, room;
    /* remembered strings, by hash; the values hold the references */
    JSString *texts[FAST_JSON_TEXTS];
} FastJson;

/* bytes */
#define FAST_JSON_LONG 65536

static int fast_json_value(FastJson *s, JSValueConst previous, JSValue *out);

static inline void fast_json_space(FastJson *s)
{
    while (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t')
        s->p++;
}

static int fast_json_push(FastJson *s, JSValue value)
{
    if (unlikely(s->count == s->room)) {
        size_t room = s->room ? s->room * 2 : 64;
        JSValue *values = js_realloc(s->ctx, s->values, room * sizeof(*values));
        if (!values) {
            JS_FreeValue(s->ctx, value);
            return FAST_JSON_EXCEPTION;
        }
        s->values = values;
        s->room = room;
    }
    s->values[s->count++] = value;
    return FAST_JSON_OK;
}

/* Frees the values from an index on. */
static void fast_json_drop(FastJson *s, size_t from)
{
    while (s->count > from)
        JS_FreeValue(s->ctx, s->values[--s->count]);
}

/* The end of the plain characters (ASCII, no quote, backslash or control) at p.
   Eight bytes at once: the top bit of a byte is set if it is not plain. */
static const uint8_t *fast_json_plain(const uint8_t *p, const uint8_t *end)
{
    const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    while (end - p >= 8) {
        uint64_t w, quote, back;
        memcpy(&w, p, 8);
        quote = w ^ (ones * '"');
        back = w ^ (ones * '\\');
        if (((quote - ones) | (back - ones) | (w - ones * 0x20) | w) & tops)
            break;
        p += 8;
    }
    while (*p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\')
        p++;
    return p;
}

/* A string of plain characters. */
static JSValue fast_json_text(FastJson *s, const uint8_t *text, size_t len)
{
    uint64_t a = 0, b = 0;
    JSString **place;
    JSValue value;

    if (len == 0)
        return js_empty_string(s->ctx->rt);
    if (len > FAST_JSON_SHORT)
        return js_new_string8_len(s->ctx, (const char *)text, len);
    memcpy(&a, text, len < 8 ? len : 8);
    if (len > 8)
        memcpy(&b, text + 8, len - 8);
    a = (a ^ (b * 0x9e3779b97f4a7c15) ^ len) * 0x9e3779b97f4a7c15;
    place = &s->texts[a >> 58];
    if (*place && (*place)->len == len && !memcmp(str8(*place), text, len))
        return js_dup(JS_MKPTR(JS_TAG_STRING, *place));
    value = js_new_string8_len(s->ctx, (const char *)text, len);
    if (!JS_IsException(value))
        *place = JS_VALUE_GET_STRING(value);
    return value;
}

/* A string with escapes or other characters, from behind its quote. */
static int fast_json_odd_text(FastJson *s, JSValue *out)
{
    JSParseState state;
    const uint8_t *p = s->p;

    js_parse_init(s->ctx, &state, (const char *)p, s->end - p, "<input>", 1);
    if (json_parse_string(&state, &p)) {
        /* The positions in the error count from the start of this string: QuickJS's own parser makes a right one. */
        JS_FreeValue(s->ctx, JS_GetException(s->ctx));
        return FAST_JSON_GIVE_UP;
    }
    s->p = p;
    *out = state.token.u.str.str;
    return JS_IsException(*out) ? FAST_JSON_EXCEPTION : FAST_JSON_OK;
}

static int fast_json_string(FastJson *s, JSValue *out)
{
    const uint8_t *text = s->p + 1, *p = fast_json_plain(text, s->end);

    if (unlikely(*p != '"')) {
        s->p = text;
        return fast_json_odd_text(s, out);
    }
    s->p = p + 1;
    *out = fast_json_text(s, text, p - text);
    return JS_IsException(*out) ? FAST_JSON_EXCEPTION : FAST_JSON_OK;
}

#include "json_number.c"

static int fast_json_array(FastJson *s, JSValueConst previous, JSValue *out)
{
    JSContext *ctx = s->ctx;
    size_t base = s->count;
    JSObject *p;
    JSValue value, array;
    uint32_t len;
    int ret;

    value = JS_UNDEFINED;
    if (JS_VALUE_GET_TAG(previous) == JS_TAG_OBJECT) {
        JSObject *other = JS_VALUE_GET_OBJ(previous);
        if (other->class_id == JS_CLASS_ARRAY && other->fast_array &&
            other->u.array.count > 0)
            value = other->u.array.u.values[0];
    }
    s->p++;
    fast_json_space(s);
    if (*s->p == ']') {
        s->p++;
        *out = JS_NewArray(ctx);
        return JS_IsException(*out) ? FAST_JSON_EXCEPTION : FAST_JSON_OK;
    }
    for (;;) {
        ret = fast_json_value(s, value, &value);
        if (ret == FAST_JSON_OK)
            ret = fast_json_push(s, value);
        if (ret != FAST_JSON_OK)
            return ret;
        fast_json_space(s);
        if (*s->p == ']')
            break;
        if (*s->p != ',')
            return FAST_JSON_GIVE_UP;
        s->p++;
    }
    s->p++;
    if (unlikely(s->count - base > INT32_MAX))
        return FAST_JSON_GIVE_UP;
    len = s->count - base;
    array = JS_NewArray(ctx);
    if (JS_IsException(array))
        return FAST_JSON_EXCEPTION;
    p = JS_VALUE_GET_OBJ(array);
    if (expand_fast_array(ctx, p, len) < 0) {
        JS_FreeValue(ctx, array);
        return FAST_JSON_EXCEPTION;
    }
    memcpy(p->u.array.u.values, s->values + base, len * sizeof(JSValue));
    p->u.array.count = len;
    p->prop[0].u.value = js_int32(len);
    s->count = base;
    *out = array;
    return FAST_JSON_OK;
}

/* Whether the atom is this key. */
static bool fast_json_is(FastJson *s, JSAtom atom, const uint8_t *key, size_t len)
{
    JSAtomStruct *text;
    if (__JS_AtomIsTaggedInt(atom))
        return false;
    text = s->ctx->rt->atom_array[atom];
    return text->len == len && !text->is_wide_char && text->atom_type == JS_ATOM_TYPE_STRING
        && !memcmp(str8(text), key, len);
}

/* Sets a property of the object, which takes over the value. */
static int fast_json_set(FastJson *s, JSObject *p, JSAtom atom, JSValue value)
{
    JSProperty *property;

    if (find_own_property(&property, p, atom)) {
        /* A repeated key: its last value counts. The value before may hold the
           last reference to a remembered string. */
        memset(s->texts, 0, sizeof(s->texts));
        set_value(s->ctx, &property->u.value, value);
        return FAST_JSON_OK;
    }
    property = add_property(s->ctx, p, atom, JS_PROP_C_W_E);
    if (!property) {
        JS_FreeValue(s->ctx, value);
        return FAST_JSON_EXCEPTION;
    }
    property->u.value = value;
    return FAST_JSON_OK;
}

/* Makes an object of the values from 'base' on; its keys are the first keys of 'shape'. */
static int fast_json_begin(FastJson *s, JSShape *shape, size_t base, JSValue *out)
{
    JSContext *ctx = s->ctx;
    int count = s->count - base, i, ret;
    JSValue object;
    JSObject *p;

    if (shape && shape->prop_count == count) {
        object = JS_NewObjectFromShape(ctx, js_dup_shape(shape), JS_CLASS_OBJECT, NULL);
        if (JS_IsException(object))
            return FAST_JSON_EXCEPTION;
        p = JS_VALUE_GET_OBJ(object);
        for (i = 0; i < count; i++)
            p->prop[i].u.value = s->values[base + i];
        s->count = base;
        *out = object;
        return FAST_JSON_OK;
    }
    object = JS_NewObject(ctx);
    if (JS_IsException(object))
        return FAST_JSON_EXCEPTION;
    p = JS_VALUE_GET_OBJ(object);
    for (i = 0; i < count; i++) {
        JSValue value = s->values[base + i];
        s->values[base + i] = JS_UNDEFINED;
        ret = fast_json_set(s, p, get_shape_prop(shape)[i].atom, value);
        if (ret != FAST_JSON_OK) {
            JS_FreeValue(ctx, object);
            return ret;
        }
    }
    s->count = base;
    *out = object;
    return FAST_JSON_OK;
}

/* The shape of the previous value, if that is a plain object with no deleted property; else NULL. */
static JSShape *fast_json_shape(JSValueConst previous, JSObject **other)
{
    *other = NULL;
    if (JS_VALUE_GET_TAG(previous) != JS_TAG_OBJECT)
        return NULL;
    *other = JS_VALUE_GET_OBJ(previous);
    if ((*other)->class_id != JS_CLASS_OBJECT || !(*other)->shape->is_hashed ||
        (*other)->shape->deleted_prop_count) {
        *other = NULL;
        return NULL;
    }
    return (*other)->shape;
}

/* An object of which not all members are parsed. */
typedef struct FastJsonObject {
    size_t base;      /* where its values begin in FastJson.values */
    JSShape *shape;   /* of the previous object, or NULL */
    JSObject *other;  /* the previous object, or NULL */
    JSObject *object; /* NULL while all keys are the shape's */
} FastJsonObject;

/* Parses a key without escapes, with its quotes. */
static int fast_json_key(FastJson *s, const uint8_t **key, size_t *len)
{
    if (*s->p != '"')
        return FAST_JSON_GIVE_UP;
    *key = s->p + 1;
    s->p = fast_json_plain(*key, s->end);
    *len = s->p - *key;
    /* Keys with escapes are rare. */
    if (*s->p != '"')
        return FAST_JSON_GIVE_UP;
    s->p++;
    return FAST_JSON_OK;
}

/* Parses the colon and the value of a member. */
static int fast_json_member_value(FastJson *s, JSValueConst previous, JSValue *out)
{
    fast_json_space(s);
    if (*s->p != ':')
        return FAST_JSON_GIVE_UP;
    s->p++;
    return fast_json_value(s, previous, out);
}

/* Parses the member with index 'at'. */
static int fast_json_member(FastJson *s, FastJsonObject *o, int at)
{
    const uint8_t *key;
    size_t len;
    JSValue value;
    JSAtom atom;
    int ret = fast_json_key(s, &key, &len);

    if (ret != FAST_JSON_OK)
        return ret;
    if (!o->object) {
        if (o->shape && at < o->shape->prop_count &&
            fast_json_is(s, get_shape_prop(o->shape)[at].atom, key, len)) {
            ret = fast_json_member_value(s, o->other->prop[at].u.value, &value);
            return ret == FAST_JSON_OK ? fast_json_push(s, value) : ret;
        }
        ret = fast_json_begin(s, o->shape, o->base, &value);
        if (ret != FAST_JSON_OK)
            return ret;
        o->object = JS_VALUE_GET_OBJ(value);
    }
    atom = JS_NewAtomLen(s->ctx, (const char *)key, len);
    if (atom == JS_ATOM_NULL)
        return FAST_JSON_EXCEPTION;
    ret = fast_json_member_value(s, JS_UNDEFINED, &value);
    if (ret == FAST_JSON_OK)
        ret = fast_json_set(s, o->object, atom, value);
    JS_FreeAtom(s->ctx, atom);
    return ret;
}

/* Parses members up to the closing brace. */
static int fast_json_members(FastJson *s, FastJsonObject *o)
{
    int at, ret;

    for (at = 0;; at++) {
        ret = fast_json_member(s, o, at);
        if (ret != FAST_JSON_OK)
            return ret;
        fast_json_space(s);
        if (*s->p == '}') {
            s->p++;
            return FAST_JSON_OK;
        }
        if (*s->p != ',')
            return FAST_JSON_GIVE_UP;
        s->p++;
        fast_json_space(s);
    }
}

static int fast_json_object(FastJson *s, JSValueConst previous, JSValue *out)
{
    FastJsonObject o = { .base = s->count };
    int ret;

    o.shape = fast_json_shape(previous, &o.other);
    s->p++;
    fast_json_space(s);
    if (*s->p == '}') {
        s->p++;
        *out = JS_NewObject(s->ctx);
        return JS_IsException(*out) ? FAST_JSON_EXCEPTION : FAST_JSON_OK;
    }
    ret = fast_json_members(s, &o);
    if (!o.object)
        return ret == FAST_JSON_OK ? fast_json_begin(s, o.shape, o.base, out) : ret;
    if (ret == FAST_JSON_OK)
        *out = JS_MKPTR(JS_TAG_OBJECT, o.object);
    else
        JS_FreeValue(s->ctx, JS_MKPTR(JS_TAG_OBJECT, o.object));
    return ret;
}

static bool fast_json_word(FastJson *s, const char *word, size_t len)
{
    if (s->end - s->p < (ptrdiff_t)len || memcmp(s->p, word, len))
        return false;
    s->p += len;
    return true;
}

/* Parses a value; sets 'out' only if it returns FAST_JSON_OK. */
static int fast_json_value(FastJson *s, JSValueConst previous, JSValue *out)
{
    if (js_check_stack_overflow(s->ctx->rt, 0))
        return FAST_JSON_GIVE_UP;
    fast_json_space(s);
    switch (*s->p) {
    case '{':
        return fast_json_object(s, previous, out);
    case '[':
        return fast_json_array(s, previous, out);
    case '"':
        return fast_json_string(s, out);
    case 't':
        *out = JS_TRUE;
        return fast_json_word(s, "true", 4) ? FAST_JSON_OK : FAST_JSON_GIVE_UP;
    case 'f':
        *out = JS_FALSE;
        return fast_json_word(s, "false", 5) ? FAST_JSON_OK : FAST_JSON_GIVE_UP;
    case 'n':
        *out = JS_NULL;
        return fast_json_word(s, "null", 4) ? FAST_JSON_OK : FAST_JSON_GIVE_UP;
    default:
        return fast_json_number(s, out);
    }
}

/* Parses a text that ends with a 0 byte. Returns whether it decided: 'out' is then the value or an exception. Otherwise 'out'
   is undefined and nothing has changed. */
static bool fast_json_parse(JSContext *ctx, const char *buf, size_t len, JSValue *out)
{
    FastJson state, *s = &state;
    int ret;

    memset(s, 0, sizeof(*s));
    s->ctx = ctx;
    s->p = (const uint8_t *)buf;
    s->end = s->p + len;
    ret = fast_json_value(s, JS_UNDEFINED, out);
    /* a text of this size takes as long as the steps between two looks */
    if (len > FAST_JSON_LONG)
        ctx->interrupt_counter = 1;
    fast_json_drop(s, 0);
    js_free(ctx, s->values);
    if (ret == FAST_JSON_OK) {
        fast_json_space(s);
        if (s->p == s->end)
            return true;
        JS_FreeValue(ctx, *out);
        ret = FAST_JSON_GIVE_UP;
    }
    *out = ret == FAST_JSON_GIVE_UP ? JS_UNDEFINED : JS_EXCEPTION;
    return ret != FAST_JSON_GIVE_UP;
}
