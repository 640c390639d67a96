import java.io.InputStream;
import java.net.URI;
import java.net.http.*;
import java.time.Duration;
import javax.net.ssl.*;

/** Clients of java.net.http and of plain sockets: Other LIBRARY HOW HOST PORT. */
public class Other {
    public static void main(String[] words) throws Exception {
        String host = words[2];
        int port = Integer.parseInt(words[3]);
        if (words[0].equals("client")) {
            HttpClient client = HttpClient.newHttpClient();
            HttpRequest request = HttpRequest.newBuilder(URI.create("https://" + host + ":" + port + "/"))
                .timeout(Duration.ofSeconds(10)).build();
            System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
            return;
        }
        try (SSLSocket socket = (SSLSocket) SSLSocketFactory.getDefault().createSocket(host, port)) {
            if (words[1].equals("verified")) {
                SSLParameters parameters = socket.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                socket.setSSLParameters(parameters);
            }
            socket.getOutputStream().write(("GET / HTTP/1.0\r\nHost: " + host + "\r\n\r\n").getBytes());
            InputStream answer = socket.getInputStream();
            answer.transferTo(System.out);
        }
    }
}
