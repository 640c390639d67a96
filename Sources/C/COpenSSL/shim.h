// OpenSSL, and inline functions for those of its macros that Swift does not import.
#ifndef SALLYPORT_COPENSSL_H
#define SALLYPORT_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/dsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

static inline void openssl_set_modes(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_read_ahead(context, 1);
    // A peer that asks for a renegotiation would make writing wait for reading.
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}
static inline int openssl_set_minimum_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}
static inline int openssl_set_maximum_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_max_proto_version(context, version);
}
static inline void openssl_set_session_cache_mode(SSL_CTX *context, long mode) {
    SSL_CTX_set_session_cache_mode(context, mode);
}
static inline int openssl_set_server_name(SSL *session, const char *name) {
    return (int)SSL_set_tlsext_host_name(session, (void *)name);
}
static inline void openssl_bio_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void openssl_bio_set_retry_write(BIO *bio) { BIO_set_retry_write(bio); }
static inline void openssl_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
static const unsigned long openssl_name_flags = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;
static inline int openssl_error_reason(unsigned long code) { return ERR_GET_REASON(code); }
static inline int openssl_error_library(unsigned long code) { return ERR_GET_LIB(code); }
static inline long openssl_bio_memory(BIO *bio, char **pointer) { return BIO_get_mem_data(bio, pointer); }
static inline EVP_PKEY *openssl_generate_p256(OSSL_LIB_CTX *library) {
    return EVP_PKEY_Q_keygen(library, NULL, "EC", "P-256");
}
static inline void openssl_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    SSL_CTX_add1_chain_cert(context, certificate);
}
static inline int openssl_set_ticket_keys(SSL_CTX *context, void *keys, long size) {
    return (int)SSL_CTX_set_tlsext_ticket_keys(context, keys, size);
}
static inline GENERAL_NAMES *openssl_new_general_names(void) { return sk_GENERAL_NAME_new_null(); }
static inline void openssl_free_general_names(GENERAL_NAMES *names) {
    sk_GENERAL_NAME_pop_free(names, GENERAL_NAME_free);
}
static inline void openssl_push_address(GENERAL_NAMES *names, ASN1_OCTET_STRING *address) {
    GENERAL_NAME *name = GENERAL_NAME_new();
    GENERAL_NAME_set0_value(name, GEN_IPADD, address);
    sk_GENERAL_NAME_push(names, name);
}
static inline void openssl_push_dns_name(GENERAL_NAMES *names, const unsigned char *bytes, int count) {
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_IA5STRING *text = ASN1_IA5STRING_new();
    ASN1_STRING_set(text, bytes, count);
    GENERAL_NAME_set0_value(name, GEN_DNS, text);
    sk_GENERAL_NAME_push(names, name);
}
static inline STACK_OF(X509) * openssl_new_chain(void) { return sk_X509_new_null(); }
static inline void openssl_push_chain(STACK_OF(X509) * chain, X509 *certificate) {
    X509_up_ref(certificate);
    sk_X509_push(chain, certificate);
}
static inline int openssl_chain_count(const STACK_OF(X509) * chain) { return chain ? sk_X509_num(chain) : 0; }
static inline void openssl_free_chain(STACK_OF(X509) * chain) { sk_X509_pop_free(chain, X509_free); }
static inline X509 *openssl_chain_item(const STACK_OF(X509) * chain, int index) {
    return sk_X509_value(chain, index);
}

// Keys and certificates for the chains of an audit.
static inline EVP_PKEY *openssl_generate_curve(const char *curve) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", curve);
}
static inline EVP_PKEY *openssl_generate_ed25519(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }
static inline EVP_PKEY *openssl_generate_rsa(int bits, unsigned long exponent) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, NULL);
    BIGNUM *number = BN_new();
    EVP_PKEY *key = NULL;
    if (context && number && BN_set_word(number, exponent) && EVP_PKEY_keygen_init(context) > 0 &&
        EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) > 0 &&
        EVP_PKEY_CTX_set1_rsa_keygen_pubexp(context, number) > 0)
        EVP_PKEY_generate(context, &key);
    BN_free(number);
    EVP_PKEY_CTX_free(context);
    return key;
}
static inline EVP_PKEY *openssl_generate_dsa(int bits) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(EVP_PKEY_DSA, NULL);
    EVP_PKEY *parameters = NULL, *key = NULL;
    if (context && EVP_PKEY_paramgen_init(context) > 0 && EVP_PKEY_CTX_set_dsa_paramgen_bits(context, bits) > 0)
        EVP_PKEY_paramgen(context, &parameters);
    EVP_PKEY_CTX_free(context);
    if (!parameters) return NULL;
    context = EVP_PKEY_CTX_new(parameters, NULL);
    if (context && EVP_PKEY_keygen_init(context) > 0) EVP_PKEY_generate(context, &key);
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(parameters);
    return key;
}
// The outer signature of a certificate is encoded anew whenever it is sent, so that both can be
// changed after it has been signed.
static inline void openssl_flip_signature(X509 *certificate) {
    const ASN1_BIT_STRING *signature = NULL;
    X509_get0_signature(&signature, NULL, certificate);
    if (signature && signature->length > 0) signature->data[signature->length - 1] ^= 1;
}
static inline int openssl_change_signature_algorithm(X509 *certificate, int identifier) {
    const X509_ALGOR *algorithm = NULL;
    X509_get0_signature(NULL, &algorithm, certificate);
    return X509_ALGOR_set0((X509_ALGOR *)algorithm, OBJ_nid2obj(identifier), V_ASN1_UNDEF, NULL);
}

#endif
