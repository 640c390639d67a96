import Base
import Proxy
import Testing

@testable import Presentation
@testable import Runs
@testable import Views

struct ReadyMessageTests {
    @Test func explicitProxy() {
        let message = ReadyMessage(
            ways: [
                .init(
                    HostPort(host: "0.0.0.0", port: 8080), .explicit,
                    pages: [
                        HostPort(host: "192.0.2.5", port: 8080),
                        HostPort(host: "2001:db8::5", port: 8080),
                    ])
            ],
            authority: "/home/nora/.local/state/sallyport/ca.pem", capture: "session.sallyport",
            processID: 4711)
        #expect(
            message.text == """
                listening on 0.0.0.0:8080, an explicit proxy
                CA certificate: /home/nora/.local/state/sallyport/ca.pem
                to trust it for one command:
                  curl --proxy http://127.0.0.1:8080 --cacert /home/nora/.local/state/sallyport/ca.pem \
                https://example.com/
                to set up a device or a browser, open there:
                  http://192.0.2.5:8080/
                  http://[2001:db8::5]:8080/
                capture: session.sallyport

                """)
        #expect(
            message.json.text
                == "{\"schema\":\"sallyport.ready/1\",\"listen\":\"0.0.0.0:8080\","
                + "\"ports\":[{\"listen\":\"0.0.0.0:8080\",\"mode\":\"explicit\","
                + "\"pages\":[\"http://192.0.2.5:8080/\",\"http://[2001:db8::5]:8080/\"]}],"
                + "\"ca\":\"/home/nora/.local/state/sallyport/ca.pem\","
                + "\"capture\":\"session.sallyport\",\"pid\":4711}\n")
    }

    /// What is printed to copy works as it stands, but for the password.
    @Test func proxyWithLogin() {
        let way = ReadyMessage.WayIn(HostPort(host: "127.0.0.1", port: 8080), .explicit)
        let message = ReadyMessage(
            ways: [way], authority: "ca.pem", capture: nil, processID: 1, needsLogin: true)
        #expect(
            message.text.contains(
                "  curl --proxy http://127.0.0.1:8080 --proxy-user USER:PASSWORD --cacert ca.pem"))
    }

    @Test func reverseMode() {
        let message = ReadyMessage(
            ways: [
                .init(
                    HostPort(host: "::", port: 8443),
                    .reverse(.init(.https, host: "api.example.com", port: 443)))
            ],
            authority: "/a b/nora's ca.pem",
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

    @Test func severalWaysIn() {
        let message = ReadyMessage(
            ways: [
                .init(
                    HostPort(host: "127.0.0.1", port: 15432),
                    .reverse(.init(.tcp, host: "db.example", port: 5432))),
                .init(HostPort(host: "0.0.0.0", port: 8443), .transparent),
                .init(
                    HostPort(host: "127.0.0.1", port: 8081),
                    .reverse(.init(.http, host: "::1", port: 80))),
            ],
            authority: "ca.pem", capture: "c", processID: 1)
        #expect(
            message.text == """
                listening on 127.0.0.1:15432, in front of tcp://db.example:5432
                listening on 0.0.0.0:8443, for connections that the system leads here
                listening on 127.0.0.1:8081, in front of http://[::1]:80
                CA certificate: ca.pem
                to trust it for one command:
                  curl --connect-to [::1]:80:127.0.0.1:8081 --cacert ca.pem http://[::1]:80/
                capture: c

                """)
        let json = message.json.text
        #expect(json.contains("\"mode\":\"reverse:tcp://db.example:5432\""))
        #expect(json.contains("{\"listen\":\"0.0.0.0:8443\",\"mode\":\"transparent\"}"))
    }

    @Test func noCommandComesInByTheSystem() {
        let message = ReadyMessage(
            ways: [.init(HostPort(host: "::", port: 1), .transparent)], authority: "ca.pem",
            capture: "c", processID: 1)
        #expect(!message.text.contains("curl"))
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
