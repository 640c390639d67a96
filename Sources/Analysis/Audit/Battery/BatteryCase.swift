package import Base

/// What is tried on a client, over and over.
package enum BatteryKind: String, Sendable, CaseIterable {
    /// Downloads that break off, and go on.
    case resume
    /// Uploads.
    case upload

    package var cases: [BatteryCase] {
        switch self {
        case .resume: BatteryCase.resumptions
        case .upload: BatteryCase.uploads
        }
    }

    /// What the command must have in it.
    package var placeholders: [String] {
        switch self {
        case .resume: ["{url}", "{out}"]
        case .upload: ["{url}", "{file}"]
        }
    }
}

/// One way in which a transfer goes wrong.
package struct BatteryCase: Sendable {
    /// What goes wrong for some of the client's requests, as a scenario says it.
    package struct Rule: Sendable {
        package var method = ""
        package var range = ""
        package var turn = ""
        package var reaches = ""
        package let faults: [String]

        init(
            _ faults: String, method: String = "", range: String = "", turn: String = "",
            reaches: String = ""
        ) {
            self.faults = faults.split(separator: "|").map(String.init)
            self.method = method
            self.range = range
            self.turn = turn
            self.reaches = reaches
        }

        /// The first download, which is not a part.
        static func first(_ faults: String) -> Rule {
            Rule(faults, method: "GET", range: "no", turn: "first")
        }
    }

    /// What shows that what goes wrong went wrong for this client.
    package enum Sign: Sendable {
        /// A request met a fault whose name begins so.
        case fault(String)
        /// Behind the response that broke off, a part was asked for.
        case part
        /// Behind the response that broke off, anything was asked for.
        case next
    }

    package let id: String
    package let title: String
    package let rules: [Rule]
    package let sign: Sign
    /// The fault that makes what the server holds in the end; empty for what it held first.
    package var held = ""
    /// What the URL asks the server for besides.
    package var query = ""
    /// How often the command is run until it says that it is done.
    package var runLimit = 2
    /// Whether the server keeps to its specifications, so that only the client can be wrong.
    package var isServerRight = true
    /// What a client has to do, and where that stands.
    package let demand: String
    package let source: String
    package var severity = Severity.high

    init(
        _ id: String, _ title: String, _ rules: [Rule], sign: Sign, demand: String,
        source: String, _ change: (inout BatteryCase) -> Void = { _ in }
    ) {
        (self.id, self.title, self.rules, self.sign) = (id, title, rules, sign)
        (self.demand, self.source) = (demand, source)
        change(&self)
    }

    /// The case that every client gets right that can be judged.
    package var isControl: Bool { id == "sound" }
}

extension BatteryCase {
    private static func resumption(
        _ id: String, _ title: String, then: String, held: String = "", cut: String = "cut:400000",
        sign: Sign = .part, isServerRight: Bool = true, demand: String, source: String
    ) -> BatteryCase {
        BatteryCase(
            id, title, [.first(cut)] + (then.isEmpty ? [] : [Rule(then)]), sign: sign,
            demand: demand, source: source
        ) {
            $0.held = held
            $0.isServerRight = isServerRight
        }
    }

    private static let validates =
        "go on only under the validator that the beginning came with, in If-Range; take a 200 from"
        + " its first byte"
    private static let compares =
        "compare Content-Range with what was asked for, and take no part that begins elsewhere"
    private static let oneVersion = "RFC 9110 §13.1.5, §15.3.7.3"
    private static let label = "RFC 9110 §14.4, §15.3.7"

    /// In the order in which they are told.
    static let resumptions: [BatteryCase] =
        [
            BatteryCase(
                "sound", "a download without a fault", [], sign: .fault(""), demand: "download",
                source: ""
            ) {
                $0.runLimit = 1
            },
            resumption(
                "good", "the rest is sent as asked", then: "", demand: "go on", source: label),
            resumption(
                "total-unknown", "the part has the total '*'", then: "range-star", demand: "go on",
                source: "RFC 9110 §14.4"),
            resumption(
                "whole", "the range is ignored: 200 with the whole", then: "range-ignored",
                sign: .next, demand: "take the whole from its first byte", source: "RFC 9110 §14.2"),
            resumption(
                "whole-changed", "200 with the whole of another version",
                then: "range-ignored|version:2", held: "version:2", sign: .next,
                demand: "take the whole from its first byte", source: "RFC 9110 §14.2, §13.1.5"),
            resumption(
                "changed-tag", "another version of the same size, with another strong tag",
                then: "version:2:etag", held: "version:2:etag", sign: .next, demand: validates,
                source: oneVersion),
            resumption(
                "changed-date", "another version, with another date and no tag",
                then: "version:2:date", held: "version:2:date", sign: .next, demand: validates,
                source: oneVersion),
            resumption(
                "changed-weak-tag", "another version, with another weak tag",
                then: "version:2:weak", held: "version:2:weak", sign: .next, demand: validates,
                source: oneVersion),
            resumption(
                "changed-size", "another version, which is bigger", then: "version:2:bigger",
                held: "version:2:bigger", sign: .next, demand: validates, source: oneVersion),
            resumption(
                "shrunk", "416, for the other version ends before that", then: "version:2:smaller",
                held: "version:2:smaller", cut: "cut:1000000",
                demand:
                    "begin anew after a 416, unless its total and its validator are those of what"
                    + " is there", source: "RFC 9110 §15.5.17"),
            resumption(
                "part-early", "the part begins 16 bytes early, and says so",
                then: "range-shift:-16",
                isServerRight: false, demand: compares, source: label),
            resumption(
                "part-late", "the part begins 16 bytes late, and says so", then: "range-shift:+16",
                isServerRight: false, demand: compares, source: label),
            resumption(
                "part-unlabelled", "206 without Content-Range", then: "range-unlabelled",
                isServerRight: false, demand: compares, source: label),
            BatteryCase(
                "part-gzip", "the part is coded with gzip",
                [.first("cut:400000"), Rule("range-gzip|until-close", range: "yes")], sign: .part,
                demand: "take no part in a coding that the beginning does not have",
                source: "RFC 9110 §8.4, §14.1.2"
            ) { $0.isServerRight = false },
            resumption(
                "page", "200 with a page to log in", then: "range-page:200", isServerRight: false,
                demand:
                    "take what comes with 200 from its first byte, or refuse another media type",
                source: "RFC 9110 §15.3.1"),
            resumption(
                "page-as-part", "206 with a page to log in, and no Content-Range",
                then: "range-page:206", isServerRight: false, demand: compares, source: label),
        ] + damaged

    /// A single response, which is not what its head says.
    private static let damaged: [BatteryCase] = [
        BatteryCase(
            "no-last-chunk", "chunks without the last one", [.first("no-last-chunk|cut:400000")],
            sign: .fault("no-last-chunk"),
            demand: "take no content for whole whose last chunk did not come",
            source: "RFC 9112 §8"
        ) {
            ($0.runLimit, $0.isServerRight) = (1, false)
        },
        BatteryCase(
            "cut-until-close", "a content without a length breaks off, and has Repr-Digest",
            [.first("until-close|cut:400000")], sign: .fault("until-close"),
            demand: "compare Repr-Digest where only the end of the connection ends the content",
            source: "RFC 9112 §8, RFC 9530 §3"
        ) {
            ($0.runLimit, $0.isServerRight, $0.query) = (1, false, "?digest=repr")
        },
        BatteryCase(
            "flipped", "one bit is turned, and Repr-Digest tells", [Rule("flip:500000:0")],
            sign: .fault("flip@"), demand: "compare Repr-Digest", source: "RFC 9530 §3"
        ) {
            ($0.runLimit, $0.isServerRight, $0.query) = (1, false, "?digest=repr")
            $0.severity = .medium
        },
        BatteryCase(
            "flipped-digest", "one bit is turned, and Digest of old tells",
            [Rule("flip:500000:0")], sign: .fault("flip@"), demand: "compare Digest",
            source: "RFC 3230 §4.3.2"
        ) {
            ($0.runLimit, $0.isServerRight, $0.query) = (1, false, "?digest=legacy")
            $0.severity = .low
        },
    ]

    /// The first request whose content reaches this byte of the upload breaks off there.
    private static func broken(_ ending: String, _ other: String = "") -> Rule {
        Rule(other + "upload-cut:400000:" + ending, turn: "first", reaches: "400000")
    }

    /// Every content is refused.
    private static func refused(_ status: Int) -> [Rule] {
        ["PUT", "PATCH", "POST"].map { Rule("status:\(status)", method: $0) }
    }

    private static func upload(
        _ id: String, _ title: String, _ rules: [Rule], sign: String = "upload-cut@",
        demand: String = goesOn, source: String = offset,
        _ change: (inout BatteryCase) -> Void = { _ in }
    ) -> BatteryCase {
        BatteryCase(
            id, title, rules, sign: .fault(sign), demand: demand, source: source, change)
    }

    private static let goesOn =
        "ask with HEAD how far the upload is, and go on there; or begin anew"
    private static let asksAgain =
        "ask with HEAD again after the 409, and go on from the offset that it tells"
    private static let offset = "draft-ietf-httpbis-resumable-upload §4.3"
    private static let mismatch = "draft-ietf-httpbis-resumable-upload §4.4"

    /// The size of what is uploaded, in bytes.
    package static let uploadSize = 1 << 20

    static let uploads: [BatteryCase] = [
        upload(
            "sound", "an upload without a fault", [], sign: "", demand: "upload", source: ""
        ) { $0.runLimit = 1 },
        upload("broken", "the connection is reset in the content", [broken("rst")]),
        upload("closed", "the connection ends in the content", [broken("fin")]),
        upload(
            "no-interim", "it breaks, and 104 was never sent",
            [broken("rst", "no-interim|"), Rule("no-interim")],
            source: "draft-ietf-httpbis-resumable-upload §4.2"),
        upload(
            "forgotten", "it breaks, and the server forgets the upload",
            [Rule("status:404", method: "HEAD", turn: "first"), broken("rst")],
            sign: "status 404", demand: "begin anew when the upload is gone",
            source: offset + ", tus 1.0 HEAD"),
        upload(
            "told-too-little", "it breaks, and the offset told is too small",
            [Rule("upload-offset:-1000", method: "HEAD", turn: "first"), broken("rst")],
            sign: "upload-offset", demand: asksAgain, source: mismatch
        ) { $0.isServerRight = false },
        upload(
            "told-too-much", "it breaks, and the offset told is too great",
            [Rule("upload-offset:+1000", method: "HEAD", turn: "first"), broken("rst")],
            sign: "upload-offset", demand: "leave no gap: " + asksAgain, source: mismatch
        ) { $0.isServerRight = false },
        upload(
            "answer-lost", "all came, and the answer is lost",
            [Rule("cut:head:rst", turn: "first", reaches: "\(uploadSize)")], sign: "cut@head",
            demand: "ask with HEAD whether the upload is complete, or send it again"),
        upload(
            "unavailable", "503 for every content", refused(503), sign: "status 503",
            demand: "tell that nothing was uploaded", source: "RFC 9110 §15.6.4"
        ) { $0.runLimit = 1 },
        upload(
            "too-large", "413 for every content", refused(413), sign: "status 413",
            demand: "tell that nothing was uploaded", source: "RFC 9110 §15.5.14"
        ) { $0.runLimit = 1 },
    ]
}
