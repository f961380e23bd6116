/* Files that code hands back beside its value. There is no other way to a file
 * from here. */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define DIRECTORY "/tmp/out/"

static bool write_all(int file, const uint8_t *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = write(file, data + done, len - done);
        if (n <= 0) {
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

static JSValue write_file(JSContext *c, const char *path, const uint8_t *data, size_t len)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bool ok = file >= 0 && write_all(file, data, len);
    int why = errno;
    if (file >= 0) {
        close(file);
    }
    return ok ? JS_UNDEFINED : JS_ThrowInternalError(c, "the artifact cannot be written: %s", strerror(why));
}

/* artifact(name, content): both checked by the bootstrap; content is a string
 * or bytes. */
JSValue artifact_write(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    buffer path = {0}, text = {0};
    if (!buffer_literal(&path, DIRECTORY) || !text_write(&path, argv[0]) || !buffer_byte(&path, 0)) {
        free(path.data);
        return JS_ThrowOutOfMemory(c);
    }
    JSValue result;
    if (JS_IsString(argv[1])) {
        result = text_write(&text, argv[1]) ? write_file(c, (const char *)path.data, text.data, text.len) : JS_ThrowOutOfMemory(c);
        free(text.data);
    } else if (JS_IsObject(argv[1]) && engine_kind_of(c, argv[1]) == KIND_BYTES) {
        const uint8_t *data;
        size_t len;
        engine_bytes(argv[1], &data, &len);
        result = write_file(c, (const char *)path.data, data, len);
    } else {
        result = JS_ThrowTypeError(c, "the content of an artifact is a string, a Uint8Array or an ArrayBuffer");
    }
    free(path.data);
    return result;
}
