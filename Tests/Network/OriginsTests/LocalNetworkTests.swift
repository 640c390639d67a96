import Testing

@testable import Origins

/// Hosts of the local network and of this machine, by their names.
@Suite struct LocalNetworkTests {
    @Test(arguments: [
        ("10.1.2.3", true), ("172.16.0.1", true), ("172.32.0.1", false), ("192.168.1.9", true),
        ("169.254.3.4", true), ("224.0.0.251", true), ("255.255.255.255", true),
        ("127.0.0.1", false), ("8.8.8.8", false), ("printer.local", true), ("Printer.LOCAL.", true),
        ("local.example.com", false), ("fe80::1", true), ("fd12::1", true), ("ff02::fb", true),
        ("::1", false), ("2001:db8::1", false), ("::ffff:10.0.0.1", true), ("localhost", false),
        ("100.64.0.1", true), ("100.128.0.1", false), ("192.0.0.8", true), ("192.0.2.1", false),
        ("198.18.0.1", true), ("198.20.0.1", false), ("240.0.0.1", true), ("fec0::1", true),
        ("::10.0.0.1", true), ("::ffff:0:10.0.0.1", true), ("64:ff9b::10.0.0.1", true),
        ("64:ff9b::8.8.8.8", false), ("2002:a00:1::", true), ("2002:808:808::", false),
        ("metadata.google.internal", true), ("nas.home.arpa", true), ("internal.example", false),
    ])
    func knowsTheLocalNetwork(_ host: String, _ isLocal: Bool) {
        #expect(LocalNetwork.holds(host) == isLocal)
    }

    /// Whether what is fetched from one host may lead to another.
    @Test(arguments: [
        ("example.com", "other.example", true), ("example.com", "8.8.8.8", true),
        ("example.com", "10.0.0.1", false), ("example.com", "nas.local", false),
        ("example.com", "127.0.0.1", false), ("example.com", "127.9.9.9", false),
        ("example.com", "0.0.0.0", false), ("example.com", "::1", false),
        ("example.com", "::", false), ("example.com", "::ffff:127.0.0.1", false),
        ("example.com", "::ffff:0.0.0.0", false), ("example.com", "::127.0.0.1", false),
        ("example.com", "localhost", false), ("example.com", "LocalHost.", false),
        ("example.com", "foo.localhost", false), ("example.com", "localhost.localdomain", false),
        ("example.com", "router", false), ("example.com", "localhost6.localdomain6", false),
        ("example.com", "localhost6", false), ("example.com", "localhost.example", true),
        ("example.com", "2002:7f00:1::", false), ("example.com", "::ffff:0:127.0.0.1", false),
        ("example.com", "64:ff9b::127.0.0.1", false), ("example.com", "100.100.100.200", false),
        ("example.com", "2130706433", false), ("example.com", "0x7f000001", false),
        ("example.com", "0x7f.1", false), ("example.com", "127.1", false),
        ("example.com", "0177.0.0.1", false), ("example.com", "1.2.3.0x", false),
        ("example.com", "10.0.0.1.", false), ("127.0.0.1", "2130706433", false),
        ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "localhost", true),
        ("127.0.0.1", "10.0.0.1", false), ("10.0.0.1", "127.0.0.1", false),
        ("10.0.0.1", "10.0.0.2", true), ("nas", "nas", true), ("10.0.0.1", "example.com", true),
        ("example.com", "1.example.com", true), ("example.com", "2001:db8::1", true),
    ])
    func leadsNobodyNearer(_ host: String, _ next: String, _ may: Bool) {
        #expect(LocalNetwork.mayLead(from: host, to: next) == may)
    }
}
