import java.net.URI;

class Connection {
    public static void main(String[] arguments) throws Exception {
        URI.create(arguments[0]).toURL().openConnection().getInputStream().transferTo(System.out);
        System.out.flush();
    }
}
