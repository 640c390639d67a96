import Base
import Testing

@testable import Commands

struct ReadyMessageTests {
    @Test func explicitProxy() {
        let message = ReadyMessage(
            listen: HostPort(host: "127.0.0.1", port: 8080), origin: nil,
            authority: "/home/nora/.local/state/sallyport/ca.pem", capture: "session.sallyport",
            processID: 4711)
        #expect(
            message.text == """
                listening on 127.0.0.1:8080, an explicit proxy
                CA certificate: /home/nora/.local/state/sallyport/ca.pem
                to trust it for one command:
                  curl --proxy http://127.0.0.1:8080 --cacert /home/nora/.local/state/sallyport/ca.pem \
                https://example.com/
                capture: session.sallyport

                """)
        #expect(
            message.json.text
                == "{\"schema\":\"sallyport.ready/1\",\"listen\":\"127.0.0.1:8080\","
                + "\"ca\":\"/home/nora/.local/state/sallyport/ca.pem\","
                + "\"capture\":\"session.sallyport\",\"pid\":4711}\n")
    }

    @Test func reverseMode() {
        let message = ReadyMessage(
            listen: HostPort(host: "::", port: 8443),
            origin: HostPort(host: "api.example.com", port: 443), authority: "/a b/nora's ca.pem",
            capture: "c", processID: 1)
        #expect(
            message.text == """
                listening on [::]:8443, in front of https://api.example.com:443
                CA certificate: /a b/nora's ca.pem
                to trust it for one command:
                  curl --connect-to api.example.com:443:[::1]:8443 --cacert '/a b/nora'\\''s ca.pem' \
                https://api.example.com:443/
                capture: c

                """)
    }

    static let quotesRows: [(text: String, quoted: String)] = [
        ("", "''"), ("a/b.c", "a/b.c"), ("a b", "'a b'"), ("$x", "'$x'"), ("'", "''\\'''"),
        ("é", "'é'"),
    ]

    @Test(arguments: quotesRows)
    func quotes(_ row: (text: String, quoted: String)) {
        #expect(shellQuoted(row.text) == row.quoted)
    }
}
