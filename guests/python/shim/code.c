/* Source to value, without a detour through Python objects: CPython's own
 * parser gives a C syntax tree, whose last statement is rewritten in place. */
#define Py_BUILD_CORE 1
#include "shim.h"

#include <string.h>

#include "pycore_ast.h"
#include "pycore_compile.h"
#include "pycore_pyarena.h"
#include "pycore_parser.h"

/* The name that the last expression's value is stored under. A NUL cannot be
 * part of a source, so no code can spell it. */
static PyObject *value_name;

bool code_prepare(void)
{
    value_name = PyUnicode_FromStringAndSize("\0value", 6);
    if (value_name == NULL) {
        return false;
    }
    PyUnicode_InternInPlace(&value_name);
    return true;
}

/* Turns a last statement that is an expression into an assignment. */
static bool keep_last_value(mod_ty module, PyArena *arena)
{
    asdl_stmt_seq *body = module->v.Module.body;
    Py_ssize_t count = asdl_seq_LEN(body);
    if (count == 0) {
        return true;
    }
    stmt_ty last = asdl_seq_GET(body, count - 1);
    if (last->kind != Expr_kind) {
        return true;
    }
    asdl_expr_seq *targets = _Py_asdl_expr_seq_new(1, arena);
    expr_ty target = _PyAST_Name(value_name, Store, last->lineno, last->col_offset, last->end_lineno,
                                 last->end_col_offset, arena);
    if (targets == NULL || target == NULL) {
        return false;
    }
    asdl_seq_SET(targets, 0, target);
    expr_ty value = last->v.Expr.value;
    last->kind = Assign_kind;
    last->v.Assign.targets = targets;
    last->v.Assign.value = value;
    last->v.Assign.type_comment = NULL;
    return true;
}

static PyObject *compile_source(PyObject *filename)
{
    PyArena *arena = _PyArena_New();
    if (arena == NULL) {
        return PyErr_NoMemory();
    }
    PyCompilerFlags flags = {
        .cf_flags = PyCF_IGNORE_COOKIE | PyCF_ALLOW_TOP_LEVEL_AWAIT,
        .cf_feature_version = PY_MINOR_VERSION,
    };
    PyObject *code = NULL;
    mod_ty module = _PyParser_ASTFromString(call.code, filename, Py_file_input, &flags, arena);
    if (module != NULL && keep_last_value(module, arena)) {
        code = (PyObject *)_PyAST_Compile(module, filename, &flags, -1, arena);
    }
    _PyArena_Free(arena);
    return code;
}

static void refuse_source(PyObject *filename, size_t at, const char *message)
{
    int line = 1;
    for (size_t i = 0; i < at; i++) {
        line += call.code[i] == '\n';
    }
    PyObject *args = Py_BuildValue("s(OiOO)", message, filename, line, Py_None, Py_None);
    if (args != NULL) {
        PyErr_SetObject(PyExc_SyntaxError, args);
        Py_DECREF(args);
    }
}

/* What the parser takes for granted: it would run what is before a NUL, and
 * report invalid UTF-8 without a place. */
static bool check_source(PyObject *filename)
{
    static const char bom[] = "\xEF\xBB\xBF";
    if (call.code_len >= 3 && memcmp(call.code, bom, 3) == 0) {
        call.code += 3;
        call.code_len -= 3;
    }
    bool ascii = true;
    for (size_t i = 0; i < call.code_len; i++) {
        if (call.code[i] == 0) {
            refuse_source(filename, i, "source code cannot contain null bytes");
            return false;
        }
        ascii &= (signed char)call.code[i] > 0;
    }
    if (ascii) {
        return true;
    }
    PyObject *text = PyUnicode_DecodeUTF8(call.code, (Py_ssize_t)call.code_len, NULL);
    if (text == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyObject *error = PyErr_GetRaisedException();
        Py_ssize_t at = 0;
        (void)PyUnicodeDecodeError_GetStart(error, &at);
        Py_DECREF(error);
        PyErr_Clear();
        refuse_source(filename, (size_t)at, "source code is not valid UTF-8");
    }
    Py_XDECREF(text);
    return text != NULL;
}

PyObject *code_run(PyObject *filename, PyObject *namespace)
{
    if (!check_source(filename)) {
        return NULL;
    }
    PyObject *code = compile_source(filename);
    if (code == NULL) {
        return NULL;
    }
    PyObject *result = PyEval_EvalCode(code, namespace, namespace);
    if (result != NULL && ((PyCodeObject *)code)->co_flags & CO_COROUTINE) {
        Py_SETREF(result, PyObject_CallOneArg(boot.drive, result));
    }
    Py_DECREF(code);
    if (result == NULL) {
        return NULL;
    }
    Py_DECREF(result);
    PyObject *value = NULL;
    if (PyDict_Pop(namespace, value_name, &value) < 0) {
        return NULL;
    }
    return value == NULL ? Py_NewRef(Py_None) : value;
}
