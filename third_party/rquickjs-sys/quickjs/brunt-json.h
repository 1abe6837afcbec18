/* brunt: JSON texts to values, the quick way. Included by quickjs.c.
 *
 * It parses what is JSON for certain and gives up on everything else: then the
 * parser of QuickJS itself begins anew, and what it says holds, its errors too.
 *
 * What makes it quick: objects in a list look alike. Each is held against the
 * one before it ("like"). While its keys are the same, in the same order, no
 * key is looked up; and an object that has all of them is made in one piece,
 * with the shape of the other. Short texts that come again are shared.
 */

enum {
    BRUNT_JSON_OK = 0,
    BRUNT_JSON_GIVE_UP = 1,
    BRUNT_JSON_EXCEPTION = -1,
};

/* The longest text that is shared, and how many are remembered. */
#define BRUNT_JSON_SHORT 16
#define BRUNT_JSON_TEXTS 64

typedef struct BruntJson {
    JSContext *ctx;
    const uint8_t *p, *end; /* *end is 0 */
    /* values of the arrays and objects under way */
    JSValue *values;
    size_t count, room;
    /* texts met, by a hash of theirs; no reference is held, the values do */
    JSString *texts[BRUNT_JSON_TEXTS];
} BruntJson;

static int brunt_json_value(BruntJson *s, JSValueConst like, JSValue *out);

static inline void brunt_json_space(BruntJson *s)
{
    while (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t')
        s->p++;
}

static int brunt_json_push(BruntJson *s, JSValue value)
{
    if (unlikely(s->count == s->room)) {
        size_t room = s->room ? s->room * 2 : 64;
        JSValue *values = js_realloc(s->ctx, s->values, room * sizeof(*values));
        if (!values) {
            JS_FreeValue(s->ctx, value);
            return BRUNT_JSON_EXCEPTION;
        }
        s->values = values;
        s->room = room;
    }
    s->values[s->count++] = value;
    return BRUNT_JSON_OK;
}

/* Frees the values from a place on. */
static void brunt_json_drop(BruntJson *s, size_t from)
{
    while (s->count > from)
        JS_FreeValue(s->ctx, s->values[--s->count]);
}

/* The end of the plain characters (ASCII, no quote, backslash or control) at p.
   Eight at once: a byte's top bit is set where it is none of them. */
static const uint8_t *brunt_json_plain(const uint8_t *p, const uint8_t *end)
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

/* A text of plain characters. */
static JSValue brunt_json_text(BruntJson *s, const uint8_t *text, size_t len)
{
    uint64_t a = 0, b = 0;
    JSString **place;
    JSValue value;

    if (len == 0)
        return js_empty_string(s->ctx->rt);
    if (len > BRUNT_JSON_SHORT)
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

/* A text with escapes or other characters, from behind its quote. */
static int brunt_json_odd_text(BruntJson *s, JSValue *out)
{
    JSParseState state;
    const uint8_t *p = s->p;

    js_parse_init(s->ctx, &state, (const char *)p, s->end - p, "<input>", 1);
    if (json_parse_string(&state, &p)) {
        /* The error has places counted from the text's begin. */
        JS_FreeValue(s->ctx, JS_GetException(s->ctx));
        return BRUNT_JSON_GIVE_UP;
    }
    s->p = p;
    *out = state.token.u.str.str;
    return JS_IsException(*out) ? BRUNT_JSON_EXCEPTION : BRUNT_JSON_OK;
}

static int brunt_json_string(BruntJson *s, JSValue *out)
{
    const uint8_t *text = s->p + 1, *p = brunt_json_plain(text, s->end);

    if (unlikely(*p != '"')) {
        s->p = text;
        return brunt_json_odd_text(s, out);
    }
    s->p = p + 1;
    *out = brunt_json_text(s, text, p - text);
    return JS_IsException(*out) ? BRUNT_JSON_EXCEPTION : BRUNT_JSON_OK;
}

static int brunt_json_number(BruntJson *s, JSValue *out)
{
    /* Exact in a double, as are their products and quotients with integers
       below 2^53, rounded once: W. D. Clinger, How to read floating point
       numbers accurately, 1990. */
    static const double tens[] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    };
    const uint8_t *start = s->p, *p = start, *first, *digits_end;
    bool negative = *p == '-';
    uint64_t mantissa = 0;
    int digits, fraction = 0, exponent = 0;
    double d;

    p += negative;
    first = p;
    if (!is_digit(*p) || (p[0] == '0' && is_digit(p[1])))
        return BRUNT_JSON_GIVE_UP;
    for (; is_digit(*p); p++)
        mantissa = mantissa * 10 + (*p - '0');
    digits = p - first > 1000 ? 1000 : p - first;
    digits_end = p;
    if (*p == '.') {
        const uint8_t *after = ++p;
        for (; is_digit(*p); p++)
            mantissa = mantissa * 10 + (*p - '0');
        if (p == after)
            return BRUNT_JSON_GIVE_UP;
        fraction = p - after > 1000 ? 1000 : p - after;
    }
    if (*p == 'e' || *p == 'E') {
        bool minus;
        p++;
        minus = *p == '-';
        if (*p == '-' || *p == '+')
            p++;
        if (!is_digit(*p))
            return BRUNT_JSON_GIVE_UP;
        for (; is_digit(*p); p++)
            exponent = exponent < 10000 ? exponent * 10 + (*p - '0') : exponent;
        exponent = minus ? -exponent : exponent;
    }
    s->p = p;
    if (p == digits_end && digits <= 9 && !(negative && mantissa == 0)) {
        *out = js_int32(negative ? -(int32_t)mantissa : (int32_t)mantissa);
        return BRUNT_JSON_OK;
    }
    exponent -= fraction;
    if (digits + fraction <= 15 && exponent >= -22 && exponent <= 22) {
        d = (double)mantissa;
        d = exponent < 0 ? d / tens[-exponent] : d * tens[exponent];
        *out = js_float64(negative ? -d : d);
    } else {
        *out = js_float64(strtod((const char *)start, NULL));
    }
    return BRUNT_JSON_OK;
}

static int brunt_json_array(BruntJson *s, JSValueConst like, JSValue *out)
{
    JSContext *ctx = s->ctx;
    size_t base = s->count;
    JSObject *p;
    JSValue value, array;
    uint32_t len;
    int ret;

    value = JS_UNDEFINED;
    if (JS_VALUE_GET_TAG(like) == JS_TAG_OBJECT) {
        JSObject *other = JS_VALUE_GET_OBJ(like);
        if (other->class_id == JS_CLASS_ARRAY && other->fast_array &&
            other->u.array.count > 0)
            value = other->u.array.u.values[0];
    }
    s->p++;
    brunt_json_space(s);
    if (*s->p == ']') {
        s->p++;
        *out = JS_NewArray(ctx);
        return JS_IsException(*out) ? BRUNT_JSON_EXCEPTION : BRUNT_JSON_OK;
    }
    for (;;) {
        ret = brunt_json_value(s, value, &value);
        if (ret == BRUNT_JSON_OK)
            ret = brunt_json_push(s, value);
        if (ret != BRUNT_JSON_OK)
            return ret;
        brunt_json_space(s);
        if (*s->p == ']')
            break;
        if (*s->p != ',')
            return BRUNT_JSON_GIVE_UP;
        s->p++;
    }
    s->p++;
    if (unlikely(s->count - base > INT32_MAX))
        return BRUNT_JSON_GIVE_UP;
    len = s->count - base;
    array = JS_NewArray(ctx);
    if (JS_IsException(array))
        return BRUNT_JSON_EXCEPTION;
    p = JS_VALUE_GET_OBJ(array);
    if (expand_fast_array(ctx, p, len) < 0) {
        JS_FreeValue(ctx, array);
        return BRUNT_JSON_EXCEPTION;
    }
    memcpy(p->u.array.u.values, s->values + base, len * sizeof(JSValue));
    p->u.array.count = len;
    p->prop[0].u.value = js_int32(len);
    s->count = base;
    *out = array;
    return BRUNT_JSON_OK;
}

/* Whether this atom's text is the key. */
static bool brunt_json_is(BruntJson *s, JSAtom atom, const uint8_t *key, size_t len)
{
    JSAtomStruct *text;
    if (__JS_AtomIsTaggedInt(atom))
        return false;
    text = s->ctx->rt->atom_array[atom];
    return text->len == len && !text->is_wide_char && text->atom_type == JS_ATOM_TYPE_STRING
        && !memcmp(str8(text), key, len);
}

/* Gives the object a property; the value is taken. */
static int brunt_json_set(BruntJson *s, JSObject *p, JSAtom atom, JSValue value)
{
    JSProperty *property;

    if (find_own_property(&property, p, atom)) {
        /* A key that comes again: the last one holds. What was there may be the
           only one that keeps a remembered text alive. */
        memset(s->texts, 0, sizeof(s->texts));
        set_value(s->ctx, &property->u.value, value);
        return BRUNT_JSON_OK;
    }
    property = add_property(s->ctx, p, atom, JS_PROP_C_W_E);
    if (!property) {
        JS_FreeValue(s->ctx, value);
        return BRUNT_JSON_EXCEPTION;
    }
    property->u.value = value;
    return BRUNT_JSON_OK;
}

/* An object of the values from `base` on, whose keys are the first of `shape`. */
static int brunt_json_begin(BruntJson *s, JSShape *shape, size_t base, JSValue *out)
{
    JSContext *ctx = s->ctx;
    int count = s->count - base, i, ret;
    JSValue object;
    JSObject *p;

    if (shape && shape->prop_count == count) {
        object = JS_NewObjectFromShape(ctx, js_dup_shape(shape), JS_CLASS_OBJECT, NULL);
        if (JS_IsException(object))
            return BRUNT_JSON_EXCEPTION;
        p = JS_VALUE_GET_OBJ(object);
        for (i = 0; i < count; i++)
            p->prop[i].u.value = s->values[base + i];
        s->count = base;
        *out = object;
        return BRUNT_JSON_OK;
    }
    object = JS_NewObject(ctx);
    if (JS_IsException(object))
        return BRUNT_JSON_EXCEPTION;
    p = JS_VALUE_GET_OBJ(object);
    for (i = 0; i < count; i++) {
        JSValue value = s->values[base + i];
        s->values[base + i] = JS_UNDEFINED;
        ret = brunt_json_set(s, p, get_shape_prop(shape)[i].atom, value);
        if (ret != BRUNT_JSON_OK) {
            JS_FreeValue(ctx, object);
            return ret;
        }
    }
    s->count = base;
    *out = object;
    return BRUNT_JSON_OK;
}

/* The shape to hold an object against: that of a plain object that a parse made. */
static JSShape *brunt_json_shape(JSValueConst like, JSObject **other)
{
    *other = NULL;
    if (JS_VALUE_GET_TAG(like) != JS_TAG_OBJECT)
        return NULL;
    *other = JS_VALUE_GET_OBJ(like);
    if ((*other)->class_id != JS_CLASS_OBJECT || !(*other)->shape->is_hashed ||
        (*other)->shape->deleted_prop_count) {
        *other = NULL;
        return NULL;
    }
    return (*other)->shape;
}

static int brunt_json_object(BruntJson *s, JSValueConst like, JSValue *out)
{
    JSContext *ctx = s->ctx;
    size_t base = s->count, len;
    JSObject *other, *p = NULL;
    JSShape *shape = brunt_json_shape(like, &other);
    JSValue object = JS_UNDEFINED, value;
    int ret, at = 0;

    s->p++;
    brunt_json_space(s);
    if (*s->p == '}') {
        s->p++;
        *out = JS_NewObject(ctx);
        return JS_IsException(*out) ? BRUNT_JSON_EXCEPTION : BRUNT_JSON_OK;
    }
    for (;; at++) {
        const uint8_t *key;
        JSAtom atom = JS_ATOM_NULL;
        JSValueConst like_value = JS_UNDEFINED;

        if (*s->p != '"') {
            ret = BRUNT_JSON_GIVE_UP;
            goto fail;
        }
        key = s->p + 1;
        s->p = brunt_json_plain(key, s->end);
        len = s->p - key;
        /* Keys with escapes are rare: QuickJS has them. */
        if (*s->p != '"') {
            ret = BRUNT_JSON_GIVE_UP;
            goto fail;
        }
        s->p++;
        if (!p) {
            if (shape && at < shape->prop_count &&
                brunt_json_is(s, get_shape_prop(shape)[at].atom, key, len)) {
                like_value = other->prop[at].u.value;
            } else {
                ret = brunt_json_begin(s, shape, base, &object);
                if (ret != BRUNT_JSON_OK)
                    return ret;
                p = JS_VALUE_GET_OBJ(object);
            }
        }
        if (p) {
            atom = JS_NewAtomLen(ctx, (const char *)key, len);
            if (atom == JS_ATOM_NULL) {
                ret = BRUNT_JSON_EXCEPTION;
                goto fail;
            }
        }
        brunt_json_space(s);
        ret = BRUNT_JSON_GIVE_UP;
        if (*s->p == ':') {
            s->p++;
            ret = brunt_json_value(s, like_value, &value);
            if (ret == BRUNT_JSON_OK)
                ret = p ? brunt_json_set(s, p, atom, value) : brunt_json_push(s, value);
        }
        if (p)
            JS_FreeAtom(ctx, atom);
        if (ret != BRUNT_JSON_OK)
            goto fail;
        brunt_json_space(s);
        if (*s->p == '}')
            break;
        if (*s->p != ',') {
            ret = BRUNT_JSON_GIVE_UP;
            goto fail;
        }
        s->p++;
        brunt_json_space(s);
    }
    s->p++;
    if (p) {
        *out = object;
        return BRUNT_JSON_OK;
    }
    return brunt_json_begin(s, shape, base, out);
 fail:
    JS_FreeValue(ctx, object);
    return ret;
}

static bool brunt_json_word(BruntJson *s, const char *word, size_t len)
{
    if (s->end - s->p < (ptrdiff_t)len || memcmp(s->p, word, len))
        return false;
    s->p += len;
    return true;
}

/* A value; on anything but OK nothing is given out. */
static int brunt_json_value(BruntJson *s, JSValueConst like, JSValue *out)
{
    if (js_check_stack_overflow(s->ctx->rt, 0))
        return BRUNT_JSON_GIVE_UP;
    brunt_json_space(s);
    switch (*s->p) {
    case '{':
        return brunt_json_object(s, like, out);
    case '[':
        return brunt_json_array(s, like, out);
    case '"':
        return brunt_json_string(s, out);
    case 't':
        *out = JS_TRUE;
        return brunt_json_word(s, "true", 4) ? BRUNT_JSON_OK : BRUNT_JSON_GIVE_UP;
    case 'f':
        *out = JS_FALSE;
        return brunt_json_word(s, "false", 5) ? BRUNT_JSON_OK : BRUNT_JSON_GIVE_UP;
    case 'n':
        *out = JS_NULL;
        return brunt_json_word(s, "null", 4) ? BRUNT_JSON_OK : BRUNT_JSON_GIVE_UP;
    default:
        return brunt_json_number(s, out);
    }
}

/* Parses a text that ends with a 0. Gives up without a trace. */
static int brunt_json_parse(JSContext *ctx, const char *buf, size_t len, JSValue *out)
{
    BruntJson state, *s = &state;
    int ret;

    memset(s, 0, sizeof(*s));
    s->ctx = ctx;
    s->p = (const uint8_t *)buf;
    s->end = s->p + len;
    ret = brunt_json_value(s, JS_UNDEFINED, out);
    brunt_json_drop(s, 0);
    js_free(ctx, s->values);
    if (ret == BRUNT_JSON_OK) {
        brunt_json_space(s);
        if (s->p != s->end) {
            JS_FreeValue(ctx, *out);
            ret = BRUNT_JSON_GIVE_UP;
        }
    }
    return ret;
}
