import java.io.InputStream;
import java.net.Socket;
import java.net.URL;
import java.security.cert.X509Certificate;
import javax.net.ssl.*;

/** A client of HttpsURLConnection: default, or with one of its checks switched off. */
public class Audited {
    public static void main(String[] arguments) throws Exception {
        HttpsURLConnection connection = (HttpsURLConnection) new URL(arguments[1]).openConnection();
        switch (arguments[0]) {
            case "trust-all" -> connection.setSSLSocketFactory(factory(new PlainTrust()));
            case "trust-all-extended" -> connection.setSSLSocketFactory(factory(new ExtendedTrust()));
            case "no-hostname" -> connection.setHostnameVerifier((name, session) -> true);
            default -> { }
        }
        connection.setConnectTimeout(10_000);
        connection.setReadTimeout(10_000);
        try (InputStream answer = connection.getInputStream()) {
            answer.transferTo(System.out);
        }
    }

    static SSLSocketFactory factory(TrustManager manager) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {manager}, null);
        return context.getSocketFactory();
    }

    static class PlainTrust implements X509TrustManager {
        public void checkClientTrusted(X509Certificate[] chain, String type) {}
        public void checkServerTrusted(X509Certificate[] chain, String type) {}
        public X509Certificate[] getAcceptedIssuers() { return new X509Certificate[0]; }
    }

    static class ExtendedTrust extends X509ExtendedTrustManager {
        public void checkClientTrusted(X509Certificate[] chain, String type) {}
        public void checkServerTrusted(X509Certificate[] chain, String type) {}
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}
        public X509Certificate[] getAcceptedIssuers() { return new X509Certificate[0]; }
    }
}
