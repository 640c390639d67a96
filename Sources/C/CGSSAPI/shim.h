// What one who accepts logins needs of GSS-API (RFC 2744), of a library that is looked for when it is
// first used: nothing is linked, so that builds and machines without Kerberos work.
#ifndef SALLYPORT_CGSSAPI_H
#define SALLYPORT_CGSSAPI_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    size_t length;
    void *value;
} gssapi_buffer;

typedef struct {
    uint32_t initiator_type;
    gssapi_buffer initiator_address;
    uint32_t acceptor_type;
    gssapi_buffer acceptor_address;
    gssapi_buffer application_data;
} gssapi_bindings;

typedef struct {
    uint32_t (*accept)(uint32_t *minor, void **context, void *credential, gssapi_buffer *token,
                       gssapi_bindings *bindings, void **name, void **mechanism, gssapi_buffer *answer,
                       uint32_t *flags, uint32_t *lifetime, void **delegated);
    uint32_t (*display_name)(uint32_t *minor, void *name, gssapi_buffer *text, void **type);
    uint32_t (*display_status)(uint32_t *minor, uint32_t status, int type, void *mechanism,
                               uint32_t *more, gssapi_buffer *text);
    uint32_t (*release_buffer)(uint32_t *minor, gssapi_buffer *buffer);
    uint32_t (*release_name)(uint32_t *minor, void **name);
    uint32_t (*release_credential)(uint32_t *minor, void **credential);
    uint32_t (*delete_context)(uint32_t *minor, void **context, gssapi_buffer *token);
} gssapi_library;

static const uint32_t gssapi_errors = 0xFFFF0000u;
static const uint32_t gssapi_continue_needed = 1;
static const uint32_t gssapi_delegates = 1;
// Whether the client's token names the same TLS connection; MIT krb5 1.19 and later.
static const uint32_t gssapi_is_bound = 2048;

// Returns 0 if the library is not there, or is another one.
static inline int gssapi_load(gssapi_library *library) {
#ifdef __linux__
    void *handle = dlopen("libgssapi_krb5.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return 0;
    *(void **)&library->accept = dlsym(handle, "gss_accept_sec_context");
    *(void **)&library->display_name = dlsym(handle, "gss_display_name");
    *(void **)&library->display_status = dlsym(handle, "gss_display_status");
    *(void **)&library->release_buffer = dlsym(handle, "gss_release_buffer");
    *(void **)&library->release_name = dlsym(handle, "gss_release_name");
    *(void **)&library->release_credential = dlsym(handle, "gss_release_cred");
    *(void **)&library->delete_context = dlsym(handle, "gss_delete_sec_context");
    return library->accept && library->display_name && library->display_status &&
           library->release_buffer && library->release_name && library->release_credential &&
           library->delete_context;
#else
    (void)library;
    return 0;
#endif
}

#endif
