import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** usage: java Fetch.java URL: prints its content, with Java's own proxy and trust settings. */
class Fetch {
    public static void main(String[] arguments) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(arguments[0])).build();
        var answer = HttpClient.newHttpClient()
            .send(request, HttpResponse.BodyHandlers.ofByteArray());
        System.out.write(answer.body());
        System.out.flush();
    }
}
