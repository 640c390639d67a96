import java.io.FileInputStream;
import java.net.Authenticator;
import java.net.PasswordAuthentication;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.CertificateFactory;
import java.util.Arrays;
import java.util.HexFormat;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** usage: java Content.java CA HTTP-URL HTTPS-URL: uses a content server as programs of Java do. */
class Content {
    private static int checks = 0;
    private static HttpClient client;

    private static void check(Object found, Object expected) {
        if (!found.equals(expected)) throw new AssertionError(found + " and not " + expected);
        checks += 1;
    }

    private static HttpResponse<byte[]> ask(String url, String... fields) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(url));
        if (fields.length > 0) request.headers(fields);
        return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    public static void main(String[] arguments) throws Exception {
        var store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (var file = new FileInputStream(arguments[0])) {
            store.setCertificateEntry(
                "ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        client = HttpClient.newBuilder().sslContext(context)
            .followRedirects(HttpClient.Redirect.NORMAL)
            .authenticator(new Authenticator() {
                @Override protected PasswordAuthentication getPasswordAuthentication() {
                    return new PasswordAuthentication("user", "pass".toCharArray());
                }
            }).build();
        for (var base : Arrays.asList(arguments).subList(1, 3)) {
            check(ask(base + "/redirect/3").statusCode(), 200);
            check(ask(base + "/basic-auth/user/pass").statusCode(), 200);
            check(ask(base + "/status/418").statusCode(), 418);
            var asset = ask(base + "/assets/7/100k").body();
            var digest = MessageDigest.getInstance("SHA-256").digest(asset);
            var told = new String(ask(base + "/assets/7/100k/sha256").body()).trim();
            check(HexFormat.of().formatHex(digest), told);
            var part = ask(base + "/assets/7/100k", "Range", "bytes=1000-1999");
            check(part.statusCode(), 206);
            check(Arrays.equals(part.body(), Arrays.copyOfRange(asset, 1000, 2000)), true);
            var posted = client.send(
                HttpRequest.newBuilder(URI.create(base + "/post"))
                    .POST(HttpRequest.BodyPublishers.ofString("plain")).build(),
                HttpResponse.BodyHandlers.ofString());
            check(posted.body().contains("\"data\": \"plain\""), true);
        }
        check(ask(arguments[2] + "/get").version(), HttpClient.Version.HTTP_2);
        System.out.println("checks " + checks);
    }
}
