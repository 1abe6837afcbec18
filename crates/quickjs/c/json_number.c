/* Parses the numbers of JSON texts. json.c includes this file. */

static int fast_json_number(FastJson *s, JSValue *out)
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
        return FAST_JSON_GIVE_UP;
    for (; is_digit(*p); p++)
        mantissa = mantissa * 10 + (*p - '0');
    digits = p - first > 1000 ? 1000 : p - first;
    digits_end = p;
    if (*p == '.') {
        const uint8_t *after = ++p;
        for (; is_digit(*p); p++)
            mantissa = mantissa * 10 + (*p - '0');
        if (p == after)
            return FAST_JSON_GIVE_UP;
        fraction = p - after > 1000 ? 1000 : p - after;
    }
    if (*p == 'e' || *p == 'E') {
        bool minus;
        p++;
        minus = *p == '-';
        if (*p == '-' || *p == '+')
            p++;
        if (!is_digit(*p))
            return FAST_JSON_GIVE_UP;
        for (; is_digit(*p); p++)
            exponent = exponent < 10000 ? exponent * 10 + (*p - '0') : exponent;
        exponent = minus ? -exponent : exponent;
    }
    s->p = p;
    if (p == digits_end && digits <= 9 && !(negative && mantissa == 0)) {
        *out = js_int32(negative ? -(int32_t)mantissa : (int32_t)mantissa);
        return FAST_JSON_OK;
    }
    exponent -= fraction;
    if (digits + fraction <= 15 && exponent >= -22 && exponent <= 22) {
        d = (double)mantissa;
        d = exponent < 0 ? d / tens[-exponent] : d * tens[exponent];
        *out = js_float64(negative ? -d : d);
    } else {
        *out = js_float64(strtod((const char *)start, NULL));
    }
    return FAST_JSON_OK;
}
