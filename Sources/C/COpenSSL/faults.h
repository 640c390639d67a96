// Servers that are wrong on purpose, for what OpenSSL has no switch: a damaged signature, a wrong
// Finished, groups that are too small. Deprecated functions are used where nothing has replaced them.
#ifndef SALLYPORT_COPENSSL_FAULTS_H
#define SALLYPORT_COPENSSL_FAULTS_H

#include <openssl/bn.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/dh.h>
#include <openssl/ec.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <string.h>

static inline int openssl_allow_all(const SSL *session, const SSL_CTX *context, int operation, int bits,
                                    int identifier, void *other, void *extra) {
    (void)session, (void)context, (void)operation, (void)bits, (void)identifier, (void)other, (void)extra;
    return 1;
}

// Speaks whatever the library knows, however weak, and resumes nothing.
static inline void openssl_lower_guard(SSL_CTX *context) {
    SSL_CTX_set_security_level(context, 0);
    // The library's own callback refuses small groups at every level.
    SSL_CTX_set_security_callback(context, openssl_allow_all);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_dh_auto(context, 1);
}

static inline void openssl_allow_tickets(SSL_CTX *context, void *keys, long size) {
    SSL_CTX_clear_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 1);
    SSL_CTX_set_tlsext_ticket_keys(context, keys, size);
}

static inline void openssl_clear_chain(SSL *session) { SSL_clear_chain_certs(session); }
static inline void openssl_add_session_chain_certificate(SSL *session, X509 *certificate) {
    SSL_add1_chain_cert(session, certificate);
}
static inline void openssl_allow_renegotiation(SSL *session) {
    SSL_clear_options(session, SSL_OP_NO_RENEGOTIATION);
}

// Staples what the session has been given beforehand.
static inline int openssl_staple_callback(SSL *session, void *argument) {
    (void)argument;
    const unsigned char *bytes;
    return SSL_get_tlsext_status_ocsp_resp(session, &bytes) > 0 ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}
static inline void openssl_staple(SSL_CTX *context, SSL *session, const void *bytes, long size) {
    SSL_CTX_set_tlsext_status_cb(context, openssl_staple_callback);
    void *owned = OPENSSL_memdup(bytes, size);
    if (owned) SSL_set_tlsext_status_ocsp_resp(session, owned, size);
}

// MARK: Keys

// Makes a key of the same kind and size as another, as a stranger has one.
static inline EVP_PKEY *openssl_generate_like(EVP_PKEY *other) {
    EVP_PKEY *made = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, other, NULL);
    if (context && EVP_PKEY_keygen_init(context) > 0 &&
        (!EVP_PKEY_is_a(other, "RSA") ||
         EVP_PKEY_CTX_set_rsa_keygen_bits(context, EVP_PKEY_get_bits(other)) > 0))
        EVP_PKEY_generate(context, &made);
    EVP_PKEY_CTX_free(context);
    return made;
}

// Gives a context a finite-field group of 512, 768 or 1024 bits.
static inline int openssl_use_small_group(SSL_CTX *context, int bits) {
    // A safe prime of 512 bits; the others are the groups of RFC 2409 §6.
    static const char *prime512 = "E3C51E4AE66084E9D391403594E4DED4276D3D1DA8D85BE6A5495C5DD936CC04"
                                  "55DB86EBBB6F04086155BBD08DAD7D8A67683C8AB58C3E823CD866F758408773";
    BIGNUM *prime = NULL, *generator = BN_new();
    if (bits == 512)
        BN_hex2bn(&prime, prime512);
    else
        prime = bits == 768 ? BN_get_rfc2409_prime_768(NULL) : BN_get_rfc2409_prime_1024(NULL);
    BN_set_word(generator, 2);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_FFC_P, prime);
    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_FFC_G, generator);
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY *group = NULL;
    EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_from_name(NULL, "DH", NULL);
    EVP_PKEY_fromdata_init(maker);
    EVP_PKEY_fromdata(maker, &group, EVP_PKEY_KEY_PARAMETERS, parameters);
    EVP_PKEY_CTX_free(maker);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    BN_free(prime);
    BN_free(generator);
    SSL_CTX_set_dh_auto(context, 0);
    if (group && SSL_CTX_set0_tmp_dh_pkey(context, group)) return 1;
    EVP_PKEY_free(group);
    return 0;
}

// MARK: A damaged signature by the right key

static inline int openssl_damaged_rsa(int count, const unsigned char *from, unsigned char *to, RSA *key,
                                      int padding) {
    int size = RSA_meth_get_priv_enc(RSA_PKCS1_OpenSSL())(count, from, to, key, padding);
    if (size > 0) to[size - 1] ^= 1;
    return size;
}

static inline int openssl_damaged_ecdsa(int type, const unsigned char *digest, int count, unsigned char *to,
                                        unsigned int *size, const BIGNUM *inverse, const BIGNUM *point,
                                        EC_KEY *key) {
    int (*sign)(int, const unsigned char *, int, unsigned char *, unsigned int *, const BIGNUM *,
                const BIGNUM *, EC_KEY *) = NULL;
    EC_KEY_METHOD_get_sign(EC_KEY_OpenSSL(), &sign, NULL, NULL);
    int status = sign(type, digest, count, to, size, inverse, point, key);
    if (status == 1 && *size > 0) to[*size - 1] ^= 1;
    return status;
}

// Makes a key that signs like another, with one bit wrong; NULL for a kind that cannot be had so.
static inline EVP_PKEY *openssl_damaged_key(EVP_PKEY *sound) {
    EVP_PKEY *made = EVP_PKEY_new();
    if (EVP_PKEY_is_a(sound, "RSA")) {
        RSA_METHOD *method = RSA_meth_dup(RSA_PKCS1_OpenSSL());
        RSA *key = RSAPrivateKey_dup((RSA *)EVP_PKEY_get0_RSA(sound));
        RSA_meth_set_priv_enc(method, openssl_damaged_rsa);
        if (key && RSA_set_method(key, method) && EVP_PKEY_assign_RSA(made, key)) return made;
    } else if (EVP_PKEY_is_a(sound, "EC")) {
        EC_KEY_METHOD *method = EC_KEY_METHOD_new(EC_KEY_OpenSSL());
        EC_KEY *key = EC_KEY_dup(EVP_PKEY_get0_EC_KEY(sound));
        int (*setup)(EC_KEY *, BN_CTX *, BIGNUM **, BIGNUM **) = NULL;
        ECDSA_SIG *(*signature)(const unsigned char *, int, const BIGNUM *, const BIGNUM *, EC_KEY *) = NULL;
        EC_KEY_METHOD_get_sign(method, NULL, &setup, &signature);
        EC_KEY_METHOD_set_sign(method, openssl_damaged_ecdsa, setup, signature);
        if (key && EC_KEY_set_method(key, method) && EVP_PKEY_assign_EC_KEY(made, key)) return made;
    }
    EVP_PKEY_free(made);
    return NULL;
}

// MARK: A wrong Finished

// A provider with the two functions that a Finished is made of, as thin covers of the sound ones.
// libssl asks for them with the context's property query, and so gets these; the key schedule in
// the default provider does not.
typedef struct {
    int macs;
} openssl_fault_provider;

typedef struct {
    openssl_fault_provider *provider;
    EVP_MAC_CTX *sound;
} openssl_fault_mac;

static inline void *openssl_fault_mac_new(void *provider) {
    openssl_fault_mac *made = OPENSSL_zalloc(sizeof *made);
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    if (made) {
        made->provider = provider;
        made->sound = EVP_MAC_CTX_new(mac);
    }
    EVP_MAC_free(mac);
    return made;
}
static inline void openssl_fault_mac_free(void *context) {
    openssl_fault_mac *mac = context;
    if (mac) EVP_MAC_CTX_free(mac->sound);
    OPENSSL_free(mac);
}
static inline void *openssl_fault_mac_copy(void *context) {
    openssl_fault_mac *mac = context, *made = OPENSSL_zalloc(sizeof *made);
    if (made) {
        made->provider = mac->provider;
        made->sound = EVP_MAC_CTX_dup(mac->sound);
    }
    return made;
}
static inline int openssl_fault_mac_init(void *context, const unsigned char *key, size_t size,
                                         const OSSL_PARAM parameters[]) {
    return EVP_MAC_init(((openssl_fault_mac *)context)->sound, key, size, parameters);
}
static inline int openssl_fault_mac_update(void *context, const unsigned char *bytes, size_t size) {
    return EVP_MAC_update(((openssl_fault_mac *)context)->sound, bytes, size);
}
static inline int openssl_fault_mac_final(void *context, unsigned char *to, size_t *size, size_t room) {
    openssl_fault_mac *mac = context;
    int status = EVP_MAC_final(mac->sound, to, size, room);
    // In TLS 1.3 the first of a connection is the server's Finished, the second the client's.
    if (status == 1 && to && mac->provider->macs++ == 0) to[0] ^= 1;
    return status;
}
static inline int openssl_fault_mac_get(void *context, OSSL_PARAM parameters[]) {
    return EVP_MAC_CTX_get_params(((openssl_fault_mac *)context)->sound, parameters);
}
static inline int openssl_fault_mac_set(void *context, const OSSL_PARAM parameters[]) {
    return EVP_MAC_CTX_set_params(((openssl_fault_mac *)context)->sound, parameters);
}
static inline const OSSL_PARAM *openssl_fault_mac_gettable(void *context, void *provider) {
    (void)context, (void)provider;
    static const OSSL_PARAM list[] = {OSSL_PARAM_size_t(OSSL_MAC_PARAM_SIZE, NULL),
                                      OSSL_PARAM_size_t(OSSL_MAC_PARAM_BLOCK_SIZE, NULL), OSSL_PARAM_END};
    return list;
}
static inline const OSSL_PARAM *openssl_fault_mac_settable(void *context, void *provider) {
    (void)context, (void)provider;
    static const OSSL_PARAM list[] = {OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_DIGEST, NULL, 0),
                                      OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_PROPERTIES, NULL, 0),
                                      OSSL_PARAM_octet_string(OSSL_MAC_PARAM_KEY, NULL, 0), OSSL_PARAM_END};
    return list;
}

static inline void *openssl_fault_kdf_new(void *provider) {
    (void)provider;
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "TLS1-PRF", NULL);
    EVP_KDF_CTX *made = EVP_KDF_CTX_new(kdf);
    EVP_KDF_free(kdf);
    return made;
}
static inline void openssl_fault_kdf_free(void *context) { EVP_KDF_CTX_free(context); }
static inline void openssl_fault_kdf_reset(void *context) { EVP_KDF_CTX_reset(context); }
static inline int openssl_fault_kdf_set(void *context, const OSSL_PARAM parameters[]) {
    return EVP_KDF_CTX_set_params(context, parameters);
}
static inline int openssl_fault_kdf_derive(void *context, unsigned char *to, size_t size,
                                           const OSSL_PARAM parameters[]) {
    static const char label[] = "server finished";
    int status = EVP_KDF_derive(context, to, size, parameters);
    for (const OSSL_PARAM *one = parameters; one && one->key; one++)
        if (status == 1 && size > 0 && !strcmp(one->key, OSSL_KDF_PARAM_SEED) &&
            one->data_size == sizeof label - 1 && !memcmp(one->data, label, sizeof label - 1))
            to[0] ^= 1;
    return status;
}
static inline const OSSL_PARAM *openssl_fault_kdf_settable(void *context, void *provider) {
    (void)context, (void)provider;
    static const OSSL_PARAM list[] = {OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_DIGEST, NULL, 0),
                                      OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_PROPERTIES, NULL, 0),
                                      OSSL_PARAM_octet_string(OSSL_KDF_PARAM_SECRET, NULL, 0),
                                      OSSL_PARAM_octet_string(OSSL_KDF_PARAM_SEED, NULL, 0), OSSL_PARAM_END};
    return list;
}

static inline const OSSL_ALGORITHM *openssl_fault_query(void *provider, int operation, int *is_uncached) {
    (void)provider;
    static const OSSL_DISPATCH mac[] = {
        {OSSL_FUNC_MAC_NEWCTX, (void (*)(void))openssl_fault_mac_new},
        {OSSL_FUNC_MAC_DUPCTX, (void (*)(void))openssl_fault_mac_copy},
        {OSSL_FUNC_MAC_FREECTX, (void (*)(void))openssl_fault_mac_free},
        {OSSL_FUNC_MAC_INIT, (void (*)(void))openssl_fault_mac_init},
        {OSSL_FUNC_MAC_UPDATE, (void (*)(void))openssl_fault_mac_update},
        {OSSL_FUNC_MAC_FINAL, (void (*)(void))openssl_fault_mac_final},
        {OSSL_FUNC_MAC_GET_CTX_PARAMS, (void (*)(void))openssl_fault_mac_get},
        {OSSL_FUNC_MAC_SET_CTX_PARAMS, (void (*)(void))openssl_fault_mac_set},
        {OSSL_FUNC_MAC_GETTABLE_CTX_PARAMS, (void (*)(void))openssl_fault_mac_gettable},
        {OSSL_FUNC_MAC_SETTABLE_CTX_PARAMS, (void (*)(void))openssl_fault_mac_settable},
        {0, NULL}};
    static const OSSL_DISPATCH kdf[] = {
        {OSSL_FUNC_KDF_NEWCTX, (void (*)(void))openssl_fault_kdf_new},
        {OSSL_FUNC_KDF_FREECTX, (void (*)(void))openssl_fault_kdf_free},
        {OSSL_FUNC_KDF_RESET, (void (*)(void))openssl_fault_kdf_reset},
        {OSSL_FUNC_KDF_DERIVE, (void (*)(void))openssl_fault_kdf_derive},
        {OSSL_FUNC_KDF_SET_CTX_PARAMS, (void (*)(void))openssl_fault_kdf_set},
        {OSSL_FUNC_KDF_SETTABLE_CTX_PARAMS, (void (*)(void))openssl_fault_kdf_settable},
        {0, NULL}};
    static const OSSL_ALGORITHM macs[] = {{"HMAC", "provider=faults", mac, "wrong once"}, {0}};
    static const OSSL_ALGORITHM kdfs[] = {{"TLS1-PRF", "provider=faults", kdf, "wrong at the end"}, {0}};
    *is_uncached = 0;
    return operation == OSSL_OP_MAC ? macs : operation == OSSL_OP_KDF ? kdfs : NULL;
}
// In TLS 1.2 the records' own HMAC would be the first that is made, so that only the PRF is covered.
static inline const OSSL_ALGORITHM *openssl_fault_query_old(void *provider, int operation, int *is_uncached) {
    return operation == OSSL_OP_KDF ? openssl_fault_query(provider, operation, is_uncached) : NULL;
}
static inline void openssl_fault_teardown(void *provider) { OPENSSL_free(provider); }

static inline int openssl_fault_start(const OSSL_DISPATCH *functions, const OSSL_DISPATCH **ours,
                                      void **provider) {
    *ours = functions;
    *provider = OPENSSL_zalloc(sizeof(openssl_fault_provider));
    return *provider != NULL;
}
static inline int openssl_fault_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *theirs,
                                     const OSSL_DISPATCH **ours, void **provider) {
    (void)handle, (void)theirs;
    static const OSSL_DISPATCH functions[] = {
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))openssl_fault_query},
        {OSSL_FUNC_PROVIDER_TEARDOWN, (void (*)(void))openssl_fault_teardown},
        {0, NULL}};
    return openssl_fault_start(functions, ours, provider);
}
static inline int openssl_fault_init_old(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *theirs,
                                         const OSSL_DISPATCH **ours, void **provider) {
    (void)handle, (void)theirs;
    static const OSSL_DISPATCH functions[] = {
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))openssl_fault_query_old},
        {OSSL_FUNC_PROVIDER_TEARDOWN, (void (*)(void))openssl_fault_teardown},
        {0, NULL}};
    return openssl_fault_start(functions, ours, provider);
}

// Makes a library whose server says a wrong Finished, in TLS 1.3 or in what came before; it is asked
// for with the properties "?provider=faults". NULL if it cannot be had.
static inline OSSL_LIB_CTX *openssl_library_with_wrong_finished(int is_tls13) {
    OSSL_LIB_CTX *made = OSSL_LIB_CTX_new();
    if (made && OSSL_PROVIDER_load(made, "default") &&
        OSSL_PROVIDER_add_builtin(made, "faults", is_tls13 ? openssl_fault_init : openssl_fault_init_old) &&
        OSSL_PROVIDER_load(made, "faults"))
        return made;
    OSSL_LIB_CTX_free(made);
    return NULL;
}

#endif
