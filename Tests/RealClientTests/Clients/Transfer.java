import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * usage: java Transfer.java ORIGIN PROXY CA FOLDER UPLOAD NAME…
 *
 * <p>Fetches each NAME from the origin into the folder, then puts the file UPLOAD.
 */
class Transfer {
    public static void main(String[] arguments) throws Exception {
        var origin = arguments[0];
        var proxy = URI.create(arguments[1]);
        var folder = Path.of(arguments[3]);
        var client = HttpClient.newBuilder()
            // One that is given, unlike the system's, serves loopback origins too.
            .proxy(ProxySelector.of(new InetSocketAddress(proxy.getHost(), proxy.getPort())))
            .sslContext(trusting(Path.of(arguments[2])))
            .build();
        for (var name : Arrays.asList(arguments).subList(5, arguments.length)) {
            var request = HttpRequest.newBuilder(URI.create(origin + "/" + name))
                .header("Accept-Encoding", "gzip").build();
            var answer = check(client.send(request, HttpResponse.BodyHandlers.ofByteArray()));
            InputStream content = new ByteArrayInputStream(answer.body());
            if (answer.headers().firstValue("content-encoding").orElse("").equals("gzip"))
                content = new GZIPInputStream(content);
            Files.copy(content, folder.resolve(Path.of(name).getFileName()));
        }
        if (arguments[4].isEmpty()) return;
        var upload = Path.of(arguments[4]);
        var request = HttpRequest.newBuilder(URI.create(origin + "/upload/" + upload.getFileName()))
            .PUT(HttpRequest.BodyPublishers.ofFile(upload)).build();
        check(client.send(request, HttpResponse.BodyHandlers.ofByteArray()));
    }

    static HttpResponse<byte[]> check(HttpResponse<byte[]> answer) {
        if (answer.statusCode() >= 300) throw new IllegalStateException(answer.toString());
        return answer;
    }

    static SSLContext trusting(Path authority) throws Exception {
        var store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (var file = Files.newInputStream(authority)) {
            store.setCertificateEntry(
                "proxy", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
