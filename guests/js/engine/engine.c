/* QuickJS, and what the shim needs of its inside; see engine.h. */
#include "quickjs.c"

#include "engine.h"

/* How many frames the engine notes of a stack. */
#define STACK_FRAMES 50

void engine_limit_stack(JSRuntime *rt, size_t size)
{
    /* The engine has this check compiled in for every system, but sets no
     * limit on WASI, where it cannot know how large the stack is. */
    rt->stack_top = js_get_stack_pointer();
    rt->stack_size = size;
    rt->stack_limit = rt->stack_top - size;
}

size_t engine_heap_size(JSRuntime *rt)
{
    return rt->malloc_state.malloc_size;
}

void engine_seed(JSContext *ctx, uint64_t seed)
{
    ctx->random_state = seed != 0 ? seed : 1;
}

/* Statements that hold other statements, whose values do not count. */
static bool holds_statements(int token)
{
    switch (token) {
    case '{':
    case TOK_IF:
    case TOK_FOR:
    case TOK_WHILE:
    case TOK_DO:
    case TOK_SWITCH:
    case TOK_TRY:
    case TOK_WITH:
        return true;
    default:
        return false;
    }
}

static bool declares_module(JSParseState *s)
{
    if (s->token.val == TOK_EXPORT) {
        return true;
    }
    if (s->token.val != TOK_IMPORT) {
        return false;
    }
    int next = peek_token(s, false);
    return next != '(' && next != '.';
}

/* Where an import or a re-export begins, and how many entries of each kind the
 * module has behind it. */
typedef struct {
    int requests, imports, exports, line, column;
} import_place;

typedef struct {
    import_place *all;
    int count, cap;
} import_places;

static bool note_import(JSContext *ctx, import_places *places, const JSModuleDef *m, int line, int column)
{
    if (places->count == places->cap) {
        int cap = places->cap * 2 + 8;
        import_place *more = js_realloc(ctx, places->all, (size_t)cap * sizeof *more);
        if (more == NULL) {
            return false;
        }
        places->all = more;
        places->cap = cap;
    }
    places->all[places->count++] = (import_place){
        m->req_module_entries_count, m->import_entries_count, m->export_entries_count, line, column,
    };
    return true;
}

/* The one that asks for what is not there, once resolving or linking failed. */
static const import_place *failed_import(JSContext *ctx, const import_places *places, const JSModuleDef *m)
{
    int request = 0, import = 0, export = 0;
    for (int i = 0; i < places->count; i++) {
        const import_place *place = &places->all[i];
        for (; request < place->requests; request++) {
            if (m->req_module_entries[request].module == NULL) {
                return place;
            }
        }
        JSModuleDef *from;
        JSExportEntry *entry;
        for (; import < place->imports; import++) {
            const JSImportEntry *e = &m->import_entries[import];
            if (e->import_name != JS_ATOM__star_ &&
                js_resolve_export(ctx, &from, &entry, m->req_module_entries[e->req_module_idx].module, e->import_name) !=
                    JS_RESOLVE_RES_FOUND) {
                return place;
            }
        }
        for (; export < place->exports; export++) {
            const JSExportEntry *e = &m->export_entries[export];
            if (e->export_type == JS_EXPORT_TYPE_INDIRECT && e->local_name != JS_ATOM__star_ &&
                js_resolve_export(ctx, &from, &entry, m->req_module_entries[e->u.req_module_idx].module, e->local_name) !=
                    JS_RESOLVE_RES_FOUND) {
                return place;
            }
        }
    }
    return NULL;
}

/* The engine knows no place for such an error: no code has run yet. */
static void place_import_error(JSContext *ctx, const import_places *places, const JSModuleDef *m, const char *name)
{
    JSValue error = JS_GetException(ctx);
    const import_place *place = JS_IsObject(error) ? failed_import(ctx, places, m) : NULL;
    if (JS_HasException(ctx)) {
        JS_FreeValue(ctx, JS_GetException(ctx));
    }
    if (place != NULL && JS_VALUE_GET_OBJ(error)->class_id == JS_CLASS_ERROR) {
        /* It has noted an empty stack, and notes one only. */
        JSObject *p = JS_VALUE_GET_OBJ(error);
        JS_FreeValue(ctx, p->u.object_data);
        p->u.object_data = JS_UNDEFINED;
        build_backtrace(ctx, error, JS_UNDEFINED, name, place->line, place->column, JS_BACKTRACE_FLAG_SINGLE_LEVEL);
    }
    JS_Throw(ctx, error);
}

/* Like js_parse_program, for the value of the last statement only. *module is
 * set when a script turns out to be a module, and then nothing was compiled. */
static int parse_program(JSParseState *s, JSValueConst keep, bool *module, import_places *places)
{
    JSFunctionDef *fd = s->cur_func;
    if (next_token(s) || js_parse_directives(s)) {
        return -1;
    }
    fd->is_global_var = true;
    int value = add_var(s->ctx, fd, JS_ATOM__ret_);
    if (value < 0) {
        return -1;
    }
    BlockEnv disposal;
    bool disposes = false;
    while (s->token.val != TOK_EOF) {
        if (!s->is_module && declares_module(s)) {
            *module = true;
            return -1;
        }
        fd->eval_ret_idx = value;
        set_eval_ret_undefined(s);
        if (holds_statements(s->token.val)) {
            fd->eval_ret_idx = -1;
        }
        bool imports = s->is_module && (s->token.val == TOK_IMPORT || s->token.val == TOK_EXPORT);
        int line = s->token.line_num, column = s->token.col_num;
        if (js_parse_source_element(s) || (imports && !note_import(s->ctx, places, fd->module, line, column))) {
            return -1;
        }
        if (!disposes && fd->scopes[fd->body_scope].has_using) {
            disposes = true;
            push_break_entry(fd, &disposal, JS_ATOM_NULL, -1, -1, 1);
            disposal.has_using = true;
            disposal.using_scope_level = fd->body_scope;
        }
    }
    fd->eval_ret_idx = -1;

    if (emit_push_const(s, keep, false)) {
        return -1;
    }
    emit_op(s, OP_get_loc);
    emit_u16(s, (uint16_t)value);
    emit_op(s, OP_call);
    emit_u16(s, 1);
    emit_op(s, OP_drop);
    if (!disposes) {
        emit_return(s, false);
        return 0;
    }
    int label_catch = fd->scopes[fd->body_scope].using_label_catch;
    int label_end = fd->scopes[fd->body_scope].using_label_end;
    pop_break_entry(fd);
    if (js_is_live_code(s)) {
        emit_op(s, OP_drop);
        emit_op(s, OP_using_dispose_init);
        emit_op(s, OP_dispose_scope);
        emit_u16(s, (uint16_t)fd->body_scope);
        emit_op(s, OP_using_dispose_end);
    }
    emit_return(s, false);
    emit_label(s, label_catch);
    emit_op(s, OP_dispose_scope);
    emit_u16(s, (uint16_t)fd->body_scope);
    emit_op(s, OP_throw);
    emit_label(s, label_end);
    return 0;
}

static JSValue compile_as(JSContext *ctx, const char *source, size_t len, const char *name, JSValueConst keep,
                          bool *module)
{
    JSParseState state, *s = &state;
    js_parse_init(ctx, s, source, len, name, 1);
    skip_shebang(&s->buf_ptr, s->buf_end);

    import_places places = {0};
    JSModuleDef *m = NULL;
    if (*module) {
        JSAtom atom = JS_NewAtom(ctx, name);
        m = atom == JS_ATOM_NULL ? NULL : js_new_module_def(ctx, atom);
        if (m == NULL) {
            return JS_EXCEPTION;
        }
    }
    JSFunctionDef *fd = js_new_function_def(ctx, NULL, true, false, name, 1, 1);
    if (fd == NULL) {
        goto fail;
    }
    s->cur_func = fd;
    s->is_module = m != NULL;
    s->allow_html_comments = m == NULL;
    fd->eval_type = m != NULL ? JS_EVAL_TYPE_MODULE : JS_EVAL_TYPE_GLOBAL;
    fd->has_this_binding = true;
    fd->is_strict_mode = m != NULL;
    fd->func_name = JS_DupAtom(ctx, JS_ATOM__eval_);
    fd->module = m;
    fd->in_function_body = true;
    fd->func_kind = JS_FUNC_ASYNC;
    push_scope(s);
    fd->body_scope = fd->scope_level;
    if (parse_program(s, keep, module, &places)) {
        free_token(s, &s->token);
        js_free_function_def(ctx, fd);
        goto fail;
    }
    if (m != NULL) {
        m->has_tla = fd->has_await;
    }
    JSValue function = js_create_function(ctx, fd);
    if (JS_IsException(function)) {
        goto fail;
    }
    if (m == NULL) {
        return function;
    }
    m->func_obj = function;
    bool linked = js_resolve_module(ctx, m) >= 0 && js_create_module_function(ctx, m) >= 0 && js_link_module(ctx, m) >= 0;
    if (!linked) {
        place_import_error(ctx, &places, m, name);
    }
    js_free(ctx, places.all);
    /* Half of a linked module stays where it is, as the engine leaves it. */
    return linked ? JS_NewModuleValue(ctx, m) : JS_EXCEPTION;
fail:
    js_free(ctx, places.all);
    if (m != NULL) {
        js_free_module_def(ctx, m);
    }
    return JS_EXCEPTION;
}

JSValue engine_compile(JSContext *ctx, const char *source, size_t len, const char *name, JSValueConst keep)
{
    bool module = false;
    JSValue function = compile_as(ctx, source, len, name, keep, &module);
    if (JS_IsException(function) && module) {
        JS_FreeValue(ctx, JS_GetException(ctx));
        function = compile_as(ctx, source, len, name, keep, &module);
    }
    return function;
}

bool engine_read_text(JSContext *ctx, JSValueConst string, engine_text *text)
{
    text->owner = JS_VALUE_GET_TAG(string) == JS_TAG_STRING_ROPE ? js_linearize_string_rope(ctx, string)
                                                                 : JS_ToString(ctx, string);
    if (JS_IsException(text->owner)) {
        return false;
    }
    JSString *p = JS_VALUE_GET_STRING(text->owner);
    text->len = p->len;
    text->narrow = p->is_wide_char ? NULL : str8(p);
    text->wide = p->is_wide_char ? str16(p) : NULL;
    return true;
}

JSValue engine_latin1(JSContext *ctx, const void *data, uint32_t len)
{
    if (len > JS_STRING_LEN_MAX) {
        return JS_ThrowRangeError(ctx, "invalid string length");
    }
    return len == 0 ? js_empty_string(ctx->rt) : js_new_string8_len(ctx, data, (int)len);
}

JSValue engine_new_bigint(JSContext *ctx, const uint8_t *bytes, uint32_t len)
{
    uint32_t limbs = len / sizeof(js_limb_t) + 1;
    JSBigInt *n = js_bigint_new(ctx, (int)min_int((int)limbs, INT32_MAX));
    if (n == NULL) {
        return JS_EXCEPTION;
    }
    /* Sign bits first, then the bytes over them. */
    memset(n->tab, len > 0 && bytes[len - 1] & 0x80 ? 0xFF : 0, limbs * sizeof(js_limb_t));
    memcpy(n->tab, bytes, len);
    while (n->len > 1 && (js_slimb_t)n->tab[n->len - 1] == (js_slimb_t)n->tab[n->len - 2] >> (JS_LIMB_BITS - 1)) {
        n->len--;
    }
    return JS_CompactBigInt(ctx, n);
}

engine_shape *engine_new_shape(JSContext *ctx, const JSAtom *keys, uint32_t count)
{
    uint32_t hash_size = JS_PROP_INITIAL_HASH_SIZE;
    while (hash_size < count) {
        hash_size *= 2;
    }
    JSObject *proto = JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_OBJECT]);
    /* The usual size at least, or objects would have no room to grow into. */
    JSShape *shape = js_new_shape2(ctx, proto, (int)hash_size, (int)max_int((int)count, JS_PROP_INITIAL_SIZE));
    for (uint32_t i = 0; shape != NULL && i < count; i++) {
        if (add_shape_property(ctx, &shape, NULL, keys[i], JS_PROP_C_W_E)) {
            js_free_shape(ctx->rt, shape);
            shape = NULL;
        }
    }
    return shape;
}

JSValue engine_new_object(JSContext *ctx, engine_shape *shape, const JSValue *values)
{
    _Static_assert(sizeof(JSProperty) == sizeof(JSValue), "a property is a value");
    return JS_NewObjectFromShape(ctx, js_dup_shape(shape), JS_CLASS_OBJECT, (JSProperty *)values);
}

JSValue engine_new_array(JSContext *ctx, uint32_t len, JSValue **elements)
{
    JSValue array = js_allocate_fast_array(ctx, len);
    if (!JS_IsException(array)) {
        *elements = JS_VALUE_GET_OBJ(array)->u.array.u.values;
    }
    return array;
}

const JSValue *engine_elements(JSValueConst array, uint32_t *len)
{
    JSObject *p = JS_VALUE_GET_OBJ(array);
    if (p->class_id != JS_CLASS_ARRAY || !p->fast_array) {
        return NULL;
    }
    /* A length beyond the elements is made of holes. */
    JSValue length = p->prop[0].u.value;
    if (JS_VALUE_GET_TAG(length) != JS_TAG_INT || (uint32_t)JS_VALUE_GET_INT(length) != p->u.array.count) {
        return NULL;
    }
    *len = p->u.array.count;
    return p->u.array.u.values;
}

bool engine_number_count(JSValueConst object, uint32_t *len)
{
    JSObject *p = JS_VALUE_GET_OBJ(object);
    if (!is_typed_array(p->class_id)) {
        return false;
    }
    *len = p->u.array.count;
    return true;
}

engine_kind engine_kind_of(JSContext *ctx, JSValueConst object)
{
    JSObject *p = JS_VALUE_GET_OBJ(object);
    switch (p->class_id) {
    case JS_CLASS_OBJECT:
        return KIND_OBJECT;
    case JS_CLASS_ARRAY:
    case JS_CLASS_ARGUMENTS:
    case JS_CLASS_MAPPED_ARGUMENTS:
        return KIND_ARRAY;
    case JS_CLASS_NUMBER:
    case JS_CLASS_STRING:
    case JS_CLASS_BOOLEAN:
    case JS_CLASS_BIG_INT:
        return KIND_BOXED;
    case JS_CLASS_DATE:
        return KIND_DATE;
    case JS_CLASS_MAP:
        return KIND_MAP;
    case JS_CLASS_SET:
        return KIND_SET;
    case JS_CLASS_ARRAY_BUFFER:
    case JS_CLASS_SHARED_ARRAY_BUFFER:
    case JS_CLASS_UINT8C_ARRAY:
    case JS_CLASS_UINT8_ARRAY:
    case JS_CLASS_DATAVIEW:
        return KIND_BYTES;
    case JS_CLASS_REGEXP:
        return KIND_REGEXP;
    case JS_CLASS_ERROR:
    case JS_CLASS_DOM_EXCEPTION:
        return KIND_ERROR;
    case JS_CLASS_PROMISE:
        return KIND_PROMISE;
    case JS_CLASS_PROXY:
        return KIND_PROXY;
    case JS_CLASS_SYMBOL:
        return KIND_SYMBOL;
    case JS_CLASS_WEAKMAP:
    case JS_CLASS_WEAKSET:
    case JS_CLASS_WEAK_REF:
        return KIND_WEAK;
    case JS_CLASS_ITERATOR:
    case JS_CLASS_ITERATOR_CONCAT:
    case JS_CLASS_ITERATOR_HELPER:
    case JS_CLASS_ITERATOR_WRAP:
    case JS_CLASS_MAP_ITERATOR:
    case JS_CLASS_SET_ITERATOR:
    case JS_CLASS_ARRAY_ITERATOR:
    case JS_CLASS_STRING_ITERATOR:
    case JS_CLASS_REGEXP_STRING_ITERATOR:
    case JS_CLASS_GENERATOR:
    case JS_CLASS_ASYNC_GENERATOR:
        return KIND_ITERATOR;
    default:
        if (is_typed_array(p->class_id)) {
            return KIND_NUMBERS;
        }
        return JS_IsFunction(ctx, object) ? KIND_FUNCTION : KIND_OTHER;
    }
}

JSValue engine_unbox(JSContext *ctx, JSValueConst object)
{
    return JS_DupValue(ctx, JS_VALUE_GET_OBJ(object)->u.object_data);
}

bool engine_is_plain(JSValueConst object)
{
    JSObject *p = JS_VALUE_GET_OBJ(object);
    if (p->is_exotic) {
        return false;
    }
    JSShapeProperty *shape = get_shape_prop(p->shape);
    for (int i = 0; i < p->shape->prop_count; i++) {
        if ((shape[i].flags & JS_PROP_TMASK) != JS_PROP_NORMAL || __JS_AtomIsTaggedInt(shape[i].atom)) {
            return false;
        }
    }
    return true;
}

int engine_next(JSContext *ctx, JSValueConst object, uint32_t *at, JSAtom *key, JSValue *value)
{
    /* Looked up anew each time: what was done with the last value may have
     * changed the object. */
    JSObject *p = JS_VALUE_GET_OBJ(object);
    for (; *at < (uint32_t)p->shape->prop_count; ++*at) {
        JSShapeProperty *shape = &get_shape_prop(p->shape)[*at];
        if (shape->atom == JS_ATOM_NULL || !(shape->flags & JS_PROP_ENUMERABLE) ||
            (shape->flags & JS_PROP_TMASK) != JS_PROP_NORMAL ||
            JS_AtomGetKind(ctx, shape->atom) != JS_ATOM_KIND_STRING) {
            continue;
        }
        *key = JS_DupAtom(ctx, shape->atom);
        *value = JS_DupValue(ctx, p->prop[*at].u.value);
        ++*at;
        return 1;
    }
    return 0;
}

bool engine_entries(JSContext *ctx, JSValueConst object, JSValue **items, uint32_t *count)
{
    JSMapState *state = JS_VALUE_GET_OBJ(object)->u.map_state;
    uint32_t width = JS_VALUE_GET_OBJ(object)->class_id == JS_CLASS_MAP ? 2 : 1, n = 0;
    JSValue *all = js_malloc(ctx, ((size_t)state->record_count * width + 1) * sizeof *all);
    if (all == NULL) {
        return false;
    }
    struct list_head *el;
    list_for_each(el, &state->records) {
        JSMapRecord *record = list_entry(el, JSMapRecord, link);
        if (record->empty || n == state->record_count * width) {
            continue;
        }
        all[n++] = JS_DupValue(ctx, record->key);
        if (width == 2) {
            all[n++] = JS_DupValue(ctx, record->value);
        }
    }
    *items = all;
    *count = n / width;
    return true;
}

void engine_bytes(JSValueConst object, const uint8_t **data, size_t *len)
{
    JSObject *p = JS_VALUE_GET_OBJ(object);
    *data = NULL;
    *len = 0;
    if (p->class_id == JS_CLASS_ARRAY_BUFFER || p->class_id == JS_CLASS_SHARED_ARRAY_BUFFER) {
        JSArrayBuffer *buffer = p->u.array_buffer;
        *data = buffer->data;
        *len = buffer->data != NULL ? (size_t)buffer->byte_length : 0;
    } else if (p->class_id == JS_CLASS_DATAVIEW) {
        if (!dataview_is_oob(p)) {
            JSTypedArray *view = p->u.typed_array;
            JSArrayBuffer *buffer = view->buffer->u.array_buffer;
            *data = buffer->data + view->offset;
            *len = view->track_rab ? (size_t)buffer->byte_length - view->offset : view->length;
        }
    } else if (p->u.array.count > 0) {
        *data = p->u.array.u.uint8_ptr;
        *len = p->u.array.count;
    }
}

bool engine_is_array(JSContext *ctx, JSValueConst object)
{
    return js_is_array(ctx, object) > 0;
}

JSValue engine_stack(JSContext *ctx, JSValueConst error)
{
    JSObject *p = JS_VALUE_GET_OBJ(error);
    if (p->class_id != JS_CLASS_ERROR || !JS_IsString(p->u.object_data)) {
        return JS_UNDEFINED;
    }
    return JS_DupValue(ctx, p->u.object_data);
}

JSValue engine_dom_text(JSContext *ctx, JSValueConst object, const char *name)
{
    JSObject *p = JS_VALUE_GET_OBJ(object);
    if (p->class_id != JS_CLASS_DOM_EXCEPTION) {
        return JS_UNDEFINED;
    }
    const JSDOMExceptionData *data = p->u.opaque;
    if (data == NULL) {
        return JS_UNDEFINED;
    }
    return strcmp(name, "name") == 0      ? JS_DupValue(ctx, data->name)
           : strcmp(name, "message") == 0 ? JS_DupValue(ctx, data->message)
                                          : JS_UNDEFINED;
}

JSValue engine_thrown_from(JSContext *ctx)
{
    JSValue stack = ctx->error_back_trace;
    ctx->error_back_trace = JS_UNDEFINED;
    if (!JS_IsString(stack)) {
        JS_FreeValue(ctx, stack);
        return JS_UNDEFINED;
    }
    return stack;
}

bool engine_settle_stacks(JSContext *ctx)
{
    ctx->error_stack_trace_limit = js_int32(STACK_FRAMES);
    static const char *const names[] = {"prepareStackTrace", "stackTraceLimit"};
    for (size_t i = 0; i < countof(names); i++) {
        JSAtom atom = JS_NewAtom(ctx, names[i]);
        if (atom == JS_ATOM_NULL || JS_DeleteProperty(ctx, ctx->error_ctor, atom, 0) < 0) {
            return false;
        }
        JS_FreeAtom(ctx, atom);
    }
    return true;
}
