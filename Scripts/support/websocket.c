// An echo of WebSocket messages over TLS, and its load: windows of messages of 100 bytes that were
// masked beforehand, each window sent at once and compared with what comes back.
//
// usage: websocket serve PORT CERTIFICATE KEY
//        websocket load PORT CONNECTIONS WINDOW SECONDS
//
// The load prints what wrk.lua prints, with messages for requests. The server echoes messages of
// less than 126 bytes, and answers a plain GET with 200.

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { message = 100, masked = message + 6, unmasked = message + 2, most = 256 };

static SSL_CTX *context;
static struct sockaddr_in address;
static int window;
static double deadline;
static atomic_long answered, failed, received;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static SSL *secured(int plain) {
    const struct timeval limit = {.tv_sec = 20};
    const int on = 1;
    setsockopt(plain, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(plain, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    SSL *ssl = SSL_new(context);
    if (ssl != NULL) SSL_set_fd(ssl, plain);
    return ssl;
}

// Reads a head and no more, since nobody sends ahead. Returns its length, 0 at the end.
static int read_head(SSL *ssl, char *head, int room) {
    int length = 0;
    while (length < room - 1) {
        int count = SSL_read(ssl, head + length, room - 1 - length);
        if (count <= 0) return 0;
        length += count;
        head[length] = 0;
        if (strstr(head, "\r\n\r\n") != NULL) return length;
    }
    return 0;
}

// Sends whole frames back, without their masks. Returns how many bytes of `in` they were, or -1.
static int echo_frames(SSL *ssl, const unsigned char *in, int length, unsigned char *out) {
    int taken = 0, made = 0;
    while (length - taken >= 6) {
        const unsigned char *frame = in + taken;
        int size = frame[1] & 127;
        if (size > 125 || (frame[1] & 128) == 0 || (frame[0] & 15) == 8) return -1;
        if (length - taken < 6 + size) break;
        out[made] = frame[0];
        out[made + 1] = (unsigned char)size;
        for (int index = 0; index < size; index++) {
            out[made + 2 + index] = frame[6 + index] ^ frame[2 + (index & 3)];
        }
        made += 2 + size;
        taken += 6 + size;
    }
    if (made > 0 && SSL_write(ssl, out, made) != made) return -1;
    return taken;
}

static void echo(SSL *ssl) {
    unsigned char in[65536], out[65536];
    int length = 0;
    for (;;) {
        int count = SSL_read(ssl, in + length, (int)sizeof in - length);
        if (count <= 0) return;
        length += count;
        // A record may hold only a part of a window.
        while (SSL_pending(ssl) > 0 && length < (int)sizeof in) {
            count = SSL_read(ssl, in + length, (int)sizeof in - length);
            if (count <= 0) return;
            length += count;
        }
        int taken = echo_frames(ssl, in, length, out);
        if (taken < 0) return;
        length -= taken;
        memmove(in, in + taken, (size_t)length);
    }
}

// The answer to any Sec-WebSocket-Key; RFC 6455 §4.2.2.
static void write_accept(const char *head, char *text, size_t room) {
    char joined[128], encoded[64];
    unsigned char digest[20];
    const char *key = strstr(head, "Sec-WebSocket-Key: ");
    if (key == NULL) key = strstr(head, "sec-websocket-key: ");
    snprintf(joined, sizeof joined, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11",
             key == NULL ? "" : key + 19);
    EVP_Digest(joined, strlen(joined), digest, NULL, EVP_sha1(), NULL);
    EVP_EncodeBlock((unsigned char *)encoded, digest, sizeof digest);
    snprintf(text, room,
             "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
             "Sec-WebSocket-Accept: %s\r\n\r\n",
             encoded);
}

static void *serve_one(void *given) {
    int plain = (int)(long)given;
    SSL *ssl = secured(plain);
    char head[4096], answer[512];
    if (ssl != NULL && SSL_accept(ssl) == 1) {
        while (read_head(ssl, head, sizeof head) > 0) {
            if (strstr(head, "ec-WebSocket-Key: ") || strstr(head, "ec-websocket-key: ")) {
                write_accept(head, answer, sizeof answer);
                if (SSL_write(ssl, answer, (int)strlen(answer)) > 0) echo(ssl);
                break;
            }
            const char *found = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            if (SSL_write(ssl, found, (int)strlen(found)) <= 0) break;
        }
        SSL_shutdown(ssl);
    }
    SSL_free(ssl);
    close(plain);
    return NULL;
}

static int serve(const char *certificate, const char *key) {
    const int on = 1;
    context = SSL_CTX_new(TLS_server_method());
    if (context == NULL || SSL_CTX_use_certificate_chain_file(context, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
        return 4;
    }
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0) return 4;
    if (listen(listener, 512) != 0) return 4;
    for (;;) {
        int plain = accept(listener, NULL, NULL);
        if (plain < 0) continue;
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve_one, (void *)(long)plain) != 0) return 4;
        pthread_detach(thread);
    }
}

// A window of frames, masked and as they come back.
static void prepare(unsigned char *sent, unsigned char *expected) {
    for (int frame = 0; frame < window; frame++) {
        unsigned char *one = sent + frame * masked, *other = expected + frame * unmasked;
        one[0] = other[0] = 0x81;
        one[1] = 0x80 | message;
        other[1] = message;
        for (int index = 0; index < 4; index++) one[2 + index] = (unsigned char)rand();
        for (int index = 0; index < message; index++) {
            other[2 + index] = (unsigned char)('a' + (frame + index) % 26);
            one[6 + index] = other[2 + index] ^ one[2 + (index & 3)];
        }
    }
}

static int exchange(SSL *ssl, const unsigned char *sent, const unsigned char *expected,
                    unsigned char *back) {
    int length = window * unmasked, got = 0;
    if (SSL_write(ssl, sent, window * masked) != window * masked) return 0;
    while (got < length) {
        int count = SSL_read(ssl, back + got, length - got);
        if (count <= 0) return 0;
        got += count;
    }
    return memcmp(back, expected, (size_t)length) == 0;
}

static void *load_one(void *unused) {
    (void)unused;
    static const char request[] =
        "GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    char head[4096];
    size_t room = (size_t)window;
    unsigned char *sent = malloc(room * masked), *expected = malloc(room * unmasked),
                  *back = malloc(room * unmasked);
    int plain = socket(AF_INET, SOCK_STREAM, 0);
    SSL *ssl = secured(plain);
    prepare(sent, expected);
    SSL_set_tlsext_host_name(ssl, "localhost");
    int fine = connect(plain, (struct sockaddr *)&address, sizeof address) == 0 &&
               SSL_connect(ssl) == 1 && SSL_write(ssl, request, sizeof request - 1) > 0 &&
               read_head(ssl, head, sizeof head) > 0 && memcmp(head, "HTTP/1.1 101", 12) == 0;
    while (fine && now() < deadline) {
        fine = exchange(ssl, sent, expected, back);
        if (fine) {
            atomic_fetch_add(&answered, window);
            atomic_fetch_add(&received, (long)window * unmasked);
        }
    }
    if (!fine) atomic_fetch_add(&failed, 1);
    SSL_shutdown(ssl);
    SSL_free(ssl);
    close(plain);
    return NULL;
}

static int load(int connections, double seconds) {
    if (connections < 1 || connections > most || window < 1 || window > 500) return 2;
    context = SSL_CTX_new(TLS_client_method());
    if (context == NULL) return 4;
    double start = now();
    deadline = start + seconds;
    pthread_t threads[most];
    for (int index = 0; index < connections; index++) {
        if (pthread_create(&threads[index], NULL, load_one, NULL) != 0) return 4;
    }
    for (int index = 0; index < connections; index++) pthread_join(threads[index], NULL);
    printf("{\"requests\":%ld,\"seconds\":%.6f,\"bytes\":%ld,\"failed\":%ld}\n",
           atomic_load(&answered), now() - start, atomic_load(&received), atomic_load(&failed));
    return 0;
}

int main(int count, char **arguments) {
    signal(SIGPIPE, SIG_IGN);
    if (count < 5) return 2;
    address.sin_family = AF_INET;
    address.sin_port = htons((unsigned short)atoi(arguments[2]));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (strcmp(arguments[1], "serve") == 0) return serve(arguments[3], arguments[4]);
    if (count != 6) return 2;
    window = atoi(arguments[4]);
    return load(atoi(arguments[3]), atof(arguments[5]));
}
