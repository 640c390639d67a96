import Testing

@testable import PublicSuffixes

struct RegistrableDomainTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let host: String
        let domain: String?
        var testDescription: String { name }

        init(_ name: String, _ host: String, _ domain: String?) {
            self.name = name
            self.host = host
            self.domain = domain
        }
    }

    private static let long = String(repeating: "a.", count: 122)

    static let rows = [
        Row("a domain", "example.com", "example.com"),
        Row("a host", "api.eu.example.com", "example.com"),
        Row("a suffix of two labels", "www.example.co.uk", "example.co.uk"),
        Row("the domain below it", "example.co.uk", "example.co.uk"),
        Row("the suffix itself", "co.uk", nil),
        Row("a top level", "com", nil),
        Row("a lent suffix", "nora.github.io", "nora.github.io"),
        Row("below a lent suffix", "www.nora.github.io", "nora.github.io"),
        Row("the lent suffix itself", "github.io", nil),
        Row("its owner's other name", "www.github.com", "github.com"),
        Row("a wildcard", "a.b.ck", "a.b.ck"),
        Row("a wildcard's suffix", "b.ck", nil),
        Row("an exception to it", "a.www.ck", "www.ck"),
        Row("any case", "WWW.Example.CO.UK", "example.co.uk"),
        Row("a dot at the end", "www.example.com.", "example.com"),
        Row("internationalized", "www.xn--bcher-kva.example.com", "example.com"),
        Row("an internationalized suffix", "a.b.xn--p1ai", "b.xn--p1ai"),
        Row("an unknown top level", "db.shop.internal", "shop.internal"),
        Row("an underscore", "_dmarc.example.com", "example.com"),
        Row("one label", "localhost", nil),
        Row("one label and a dot", "localhost.", nil),
        Row("IPv4", "192.0.2.7", nil),
        Row("IPv4 and a dot", "192.0.2.7.", nil),
        Row("IPv4 of two parts", "127.1", nil),
        Row("IPv4 in hexadecimal", "192.0.2.0x7F", nil),
        Row("IPv6", "2001:db8::1", nil),
        Row("IPv6 in brackets", "[2001:db8::1]", nil),
        Row("IPv6 that ends in IPv4", "::ffff:192.0.2.7", nil),
        Row("with a port", "example.com:443", nil),
        Row("empty", "", nil),
        Row("a dot", ".", nil),
        Row("dots", "...", nil),
        Row("a dot at the start", ".example.com", nil),
        Row("two dots", "www..example.com", nil),
        Row("two dots at the end", "example.com..", nil),
        Row("not ASCII", "bücher.example.com", nil),
        Row("a null byte", "example.com\0.org", nil),
        Row("white space", "www. example.com", nil),
        Row("a wildcard name", "*.example.com", nil),
        Row("a long label", String(repeating: "a", count: 64) + ".com", nil),
        Row("253 bytes", long + "shops.com", "shops.com"),
        Row("253 bytes and a dot", long + "shops.com.", "shops.com"),
        Row("254 bytes", long + "shopss.com", nil),
        Row("a megabyte", String(repeating: "a.", count: 500_000) + "com", nil),
    ]

    @Test(arguments: rows)
    func finds(_ row: Row) {
        #expect(registrableDomain(of: row.host) == row.domain)
    }

    @Test func mayBeAskedByManyAtOnce() async {
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    (0..<200).allSatisfy {
                        registrableDomain(of: "a.n\(number)x\($0).co.uk")
                            == "n\(number)x\($0).co.uk"
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
