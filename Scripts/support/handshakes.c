// Asks for one file over and over, each time on a new TLS connection with a full handshake: wrk
// resumes sessions. Prints what wrk.lua prints.
//
// usage: handshakes PORT TARGET THREADS SECONDS

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static SSL_CTX *context;
static struct sockaddr_in address;
static char request[512];
static double deadline;
static atomic_long answered, failed, received;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// Whether the answer came whole, with status 200.
static int ask(SSL *ssl) {
    char buffer[16384];
    int length = (int)strlen(request);
    if (SSL_connect(ssl) != 1 || SSL_write(ssl, request, length) != length) return 0;
    int first = SSL_read(ssl, buffer, sizeof buffer);
    if (first < 12 || memcmp(buffer, "HTTP/1.1 200", 12) != 0) return 0;
    long total = first;
    for (int count; (count = SSL_read(ssl, buffer, sizeof buffer)) > 0;) total += count;
    SSL_shutdown(ssl);
    atomic_fetch_add(&received, total);
    return 1;
}

static void *work(void *unused) {
    (void)unused;
    const struct timeval limit = {.tv_sec = 20};
    while (now() < deadline) {
        int plain = socket(AF_INET, SOCK_STREAM, 0);
        SSL *ssl = SSL_new(context);
        int fine = plain >= 0 && ssl != NULL;
        if (fine) {
            setsockopt(plain, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
            SSL_set_fd(ssl, plain);
            SSL_set_tlsext_host_name(ssl, "localhost");
            fine = connect(plain, (struct sockaddr *)&address, sizeof address) == 0 && ask(ssl);
        }
        atomic_fetch_add(fine ? &answered : &failed, 1);
        SSL_free(ssl);
        if (plain >= 0) close(plain);
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    address.sin_family = AF_INET;
    address.sin_port = htons((unsigned short)atoi(arguments[1]));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    snprintf(request, sizeof request,
             "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", arguments[2]);
    int threads = atoi(arguments[3]);
    if (threads < 1 || threads > 256) return 2;
    context = SSL_CTX_new(TLS_client_method());
    if (context == NULL) return 4;
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);

    double start = now();
    deadline = start + atof(arguments[4]);
    pthread_t workers[256];
    for (int index = 0; index < threads; index++) {
        if (pthread_create(&workers[index], NULL, work, NULL) != 0) return 4;
    }
    for (int index = 0; index < threads; index++) pthread_join(workers[index], NULL);
    printf("{\"requests\":%ld,\"seconds\":%.6f,\"bytes\":%ld,\"failed\":%ld}\n",
           atomic_load(&answered), now() - start, atomic_load(&received), atomic_load(&failed));
    return 0;
}
