import Testing

@testable import HTTPCodecs

struct PerMessageDeflateOfferTests {
    @Test(arguments: [
        ("permessage-deflate", "permessage-deflate"),
        (
            "permessage-deflate; client_max_window_bits",
            "permessage-deflate; client_max_window_bits"
        ),
        (
            "x-other; a=1 , permessage-deflate;server_max_window_bits=10, permessage-deflate",
            "permessage-deflate;server_max_window_bits=10, permessage-deflate"
        ),
        ("permessage-deflate; b, permessage-deflate", "permessage-deflate"),
        ("", nil), ("x-other", nil), ("permessage-deflate; server_max_window_bits", nil),
        ("permessage-deflate; client_max_window_bits=7", nil),
    ])
    func offers(_ field: String, _ offered: String?) {
        let offer = PerMessageDeflateOffer(requestField: Array(field.utf8)[...])
        #expect(offer?.field == offered.map { Array($0.utf8) })
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let offer: String
        let answer: String
        /// `server 15 client 15`, with `*` where contexts are not kept; `nil` if it breaks off.
        let agreed: String?
        var testDescription: String { "\(offer) | \(answer)" }

        init(_ offer: String, _ answer: String, _ agreed: String?) {
            self.offer = "permessage-deflate" + offer
            self.answer = answer
            self.agreed = agreed
        }
    }

    @Test(arguments: [
        Row("", "permessage-deflate", "server 15 client 15"),
        Row("", "Permessage-Deflate; server_no_context_takeover", "server 15* client 15"),
        Row("", "permessage-deflate; client_no_context_takeover", "server 15 client 15*"),
        Row("", "permessage-deflate; server_max_window_bits=9", "server 9 client 15"),
        Row("", "permessage-deflate; client_max_window_bits=12", nil),
        Row(
            "; client_max_window_bits", "permessage-deflate; client_max_window_bits=12",
            "server 15 client 12"),
        Row("; client_max_window_bits", "permessage-deflate", "server 15 client 15"),
        Row("; client_max_window_bits=10", "permessage-deflate", "server 15 client 10"),
        Row(
            "; client_max_window_bits=10", "permessage-deflate; client_max_window_bits=10",
            "server 15 client 10"),
        Row("; client_max_window_bits=10", "permessage-deflate; client_max_window_bits=14", nil),
        Row("; server_no_context_takeover", "permessage-deflate", nil),
        Row("; server_max_window_bits=10", "permessage-deflate", nil),
        Row(
            "; server_max_window_bits=10", "permessage-deflate; server_max_window_bits=11", nil),
        Row(
            "; server_max_window_bits=10, permessage-deflate", "permessage-deflate",
            "server 15 client 15"),
        Row("", "permessage-deflate; client_max_window_bits", nil),
        Row("", "permessage-deflate, permessage-deflate", nil),
        Row("", "permessage-deflate, x-other", nil), Row("", "x-other", nil), Row("", "", nil),
        Row("", "permessage-deflate; server_no_context_takeover=1", nil),
    ])
    func agrees(_ row: Row) throws {
        let offer = try #require(PerMessageDeflateOffer(requestField: Array(row.offer.utf8)[...]))
        let agreed = offer.agreement(inResponse: Array(row.answer.utf8)[...])
        let told = agreed.map {
            "server \($0.serverWindowBits)\($0.serverResets ? "*" : "")"
                + " client \($0.clientWindowBits)\($0.clientResets ? "*" : "")"
        }
        #expect(told == row.agreed)
    }
}
