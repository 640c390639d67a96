internal import Base
internal import HTTPServer

/// The words in which faults are written, in a scenario and in a URL alike: `verb:argument|verb`.
package struct FaultVerb: Sendable {
    package let name: String
    package let usage: String
    package let summary: String
    private let read: @Sendable (inout FaultArguments) throws(FaultViolation) -> [Fault]

    private init(
        _ usage: String, _ summary: String,
        _ read: @escaping @Sendable (inout FaultArguments) throws(FaultViolation) -> [Fault]
    ) {
        name = String(usage.prefix { $0 != ":" && $0 != "[" })
        self.usage = usage
        self.summary = summary
        self.read = read
    }

    /// Reads faults, one or several with `|` between them.
    package static func faults(_ text: String) throws(FaultViolation) -> [Fault] {
        var faults: [Fault] = []
        let texts = text.split(separator: "|", omittingEmptySubsequences: false)
        guard texts.count <= limit else {
            throw FaultViolation("more than \(limit) faults at once")
        }
        for text in texts { faults += try one(String(text)) }
        return faults
    }

    private static func one(_ text: String) throws(FaultViolation) -> [Fault] {
        let text = [UInt8](text.utf8).trimmed.text
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard let verb = all.first(where: { $0.name == parts.first }) else {
            let name = parts.first ?? ""
            let near = NearestName.find(name, among: all.map(\.name))
            throw FaultViolation(
                "there is no fault '\(name.prefix(40))'",
                hint: near.map { "did you mean '\($0)'?" }
                    ?? "Documentation/content-server.md lists them, and a server's /faults")
        }
        var arguments = FaultArguments(verb: verb.name, usage: verb.usage, parts.dropFirst())
        let faults = try verb.read(&arguments)
        try arguments.finish()
        return faults
    }

    /// Of one rule, or one URL.
    static let limit = 16

    package static let all: [FaultVerb] = delivery + uploads + content + ranges

    private static let delivery: [FaultVerb] = [
        FaultVerb("cut:OFFSET[:fin|truncate|rst]", "ends the connection in the content") {
            arguments throws(FaultViolation) in
            [.cut(try arguments.offset(), try arguments.ending())]
        },
        FaultVerb("reset:OFFSET", "resets the connection in the content") {
            arguments throws(FaultViolation) in
            [.cut(try arguments.offset(), .reset)]
        },
        FaultVerb("stall:OFFSET[:TIME]", "sends nothing for so long, or for ever") {
            arguments throws(FaultViolation) in
            [.stall(try arguments.offset(), milliseconds: try arguments.optionalMilliseconds())]
        },
        FaultVerb("delay:TIME", "waits ahead of the head") {
            arguments throws(FaultViolation) in
            [.delay(milliseconds: try arguments.milliseconds())]
        },
        FaultVerb("slow-head:RATE", "sends the head at so many bytes a second") {
            arguments throws(FaultViolation) in
            [.slowHead(bytesPerSecond: try arguments.byteCount("rate"))]
        },
        FaultVerb("rate:RATE", "sends the content at so many bytes a second") {
            arguments throws(FaultViolation) in
            [.rate(bytesPerSecond: try arguments.byteCount("rate"))]
        },
        FaultVerb("slow-body:TIME", "spreads the content over so long") {
            arguments throws(FaultViolation) in
            [.slowBody(milliseconds: try arguments.milliseconds())]
        },
        FaultVerb("drip:BYTES:TIME", "sends so many bytes each so long") {
            arguments throws(FaultViolation) in
            let slice = Int(clamping: try arguments.byteCount("number of bytes"))
            return [.drip(slice: slice, milliseconds: try arguments.milliseconds())]
        },
        FaultVerb("jitter:TIME", "makes each piece late by up to so long, drawn") {
            arguments throws(FaultViolation) in
            [.jitter(milliseconds: try arguments.milliseconds())]
        },
        FaultVerb("profile:NAME", "latency and rate of a kind of network") {
            arguments throws(FaultViolation) in
            let names = ThrottleProfile.all.map(\.name)
            guard let name = try arguments.word(of: names),
                let profile = ThrottleProfile.all.first(where: { $0.name == name })
            else {
                throw FaultViolation(
                    "profile needs a name", hint: "one of \(names.joined(separator: ", "))")
            }
            return profile.faults
        },
        FaultVerb("length:+N|-N", "declares a wrong Content-Length") {
            arguments throws(FaultViolation) in
            [.length(try arguments.signedByteCount())]
        },
        FaultVerb("no-last-chunk", "sends chunks, and leaves the last one out") { _ in
            [.noLastChunk]
        },
        FaultVerb("until-close", "sends the content without a length, and ends the connection") {
            _ in [.untilClose]
        },
        FaultVerb("rst-stream:OFFSET[:CODE]", "resets the stream of HTTP/2") {
            arguments throws(FaultViolation) in
            let offset = try arguments.offset()
            let code = try arguments.optionalNumber("code", in: 0...UInt64(UInt32.max)) ?? 2
            return [.cut(offset, .stream(UInt32(code)))]
        },
        FaultVerb("goaway:OFFSET[:CODE[:unprocessed]]", "says GOAWAY on HTTP/2") {
            arguments throws(FaultViolation) in
            let offset = try arguments.offset()
            let code = try arguments.optionalNumber("code", in: 0...UInt64(UInt32.max)) ?? 0
            let word = try arguments.word(of: ["unprocessed"])
            return [.goAway(offset, code: UInt32(code), isProcessed: word == nil)]
        },
    ]

    private static let uploads: [FaultVerb] = [
        FaultVerb("withhold:OFFSET[:TIME]", "reads no more of an upload for so long, or for ever") {
            arguments throws(FaultViolation) in
            [.withhold(try arguments.offset(), milliseconds: try arguments.optionalMilliseconds())]
        },
        FaultVerb("upload-cut:OFFSET[:fin|truncate|rst]", "ends the connection in an upload") {
            arguments throws(FaultViolation) in
            [.uploadCut(try arguments.offset(), try arguments.ending())]
        },
        FaultVerb("upload-offset:+N|-N", "tells an Upload-Offset that is too great or too small") {
            arguments throws(FaultViolation) in
            [.uploadOffset(try arguments.signedByteCount())]
        },
        FaultVerb("no-interim", "sends no 103 and no 104") { _ in [.noInterim] },
    ]

    private static let content: [FaultVerb] = [
        FaultVerb("flip[:OFFSET[:BIT]]", "turns one bit of the content, drawn or given") {
            arguments throws(FaultViolation) in
            let offset = try arguments.offset(.drawn)
            return [
                .flip(offset, bit: try arguments.optionalNumber("bit", in: 0...7).map(Int.init))
            ]
        },
        FaultVerb("duplicate:FIELD[:VALUE]", "sends a field twice, the second time with this value")
        { arguments throws(FaultViolation) in
            [.duplicate(try arguments.text("a field"), arguments.next())]
        },
        FaultVerb("status:CODE[:SECONDS[:date]]", "answers with a status, and with Retry-After") {
            arguments throws(FaultViolation) in
            let code = Int(try arguments.number("status", in: 200...599))
            let seconds = try arguments.optionalNumber("number of seconds", in: 0...86_400)
            let word = try arguments.word(of: ["date"])
            return [.status(code, seconds.map { word == nil ? .seconds($0) : .date($0) })]
        },
        FaultVerb("redirect:N", "redirects so many times, and then answers") {
            arguments throws(FaultViolation) in
            [.redirect(Int(try arguments.number("number", in: 0...1000)))]
        },
        FaultVerb("loop", "redirects to itself") { _ in [.loop] },
        FaultVerb("downgrade[:PORT]", "redirects from https to http") {
            arguments throws(FaultViolation) in
            [
                .downgrade(
                    port: try arguments.optionalNumber("port", in: 1...65_535).map(UInt16.init))
            ]
        },
        FaultVerb("digest[:repr|content|legacy]", "adds a digest that is wrong") {
            arguments throws(FaultViolation) in
            let word = try arguments.word(of: Fault.DigestField.allCases.map(\.rawValue))
            return [.digest(word.flatMap(Fault.DigestField.init) ?? .representation)]
        },
        FaultVerb(
            "version:N[:bigger|smaller][:etag|date|weak]",
            "serves version N of an asset, told apart by this alone",
            { arguments throws(FaultViolation) in
                [.version(try AssetVersion.read(&arguments, splice: nil))]
            }),
        FaultVerb(
            "splice:OFFSET:N", "serves an asset whose bytes are those of version N from there on",
            { arguments throws(FaultViolation) in
                let offset = try arguments.offset()
                return [.version(try AssetVersion.read(&arguments, splice: offset))]
            }),
    ]

    private static let ranges: [FaultVerb] = [
        FaultVerb("range-shift:+N|-N", "begins a part later or earlier, and says so") {
            arguments throws(FaultViolation) in
            [.range(.shifted(try arguments.signedByteCount()))]
        },
        FaultVerb("range-lie:+N|-N", "begins a part later or earlier, and does not say so") {
            arguments throws(FaultViolation) in
            [.range(.mislabelled(try arguments.signedByteCount()))]
        },
        FaultVerb("range-short:N", "sends less of a part than was asked for") {
            arguments throws(FaultViolation) in
            [.range(.resized(-Int64(clamping: try arguments.byteCount("number of bytes"))))]
        },
        FaultVerb("range-long:N", "sends more of a part than was asked for") {
            arguments throws(FaultViolation) in
            [.range(.resized(Int64(clamping: try arguments.byteCount("number of bytes"))))]
        },
        FaultVerb("range-unlabelled", "sends a part without Content-Range") { _ in
            [.range(.unlabelled)]
        },
        FaultVerb("range-star", "sends a part with the total '*'") { _ in
            [.range(.unknownTotal)]
        },
        FaultVerb("range-total:+N|-N", "sends a part with a wrong total") {
            arguments throws(FaultViolation) in
            [.range(.wrongTotal(try arguments.signedByteCount()))]
        },
        FaultVerb("range-ignored", "answers with 200 and the whole") { _ in [.range(.ignored)] },
        FaultVerb("range-gzip", "sends a part as gzip") { _ in [.range(.gzip)] },
        FaultVerb("range-page[:200|206]", "sends a login page in the place of a part") {
            arguments throws(FaultViolation) in
            [.range(.page(try arguments.word(of: ["200", "206"]) == "206" ? 206 : 200))]
        },
        FaultVerb("416[:LENGTH]", "says that a part is not there, and of which length") {
            arguments throws(FaultViolation) in
            [.unsatisfiable(length: try arguments.optionalNumber("length", in: 0...(1 << 62)))]
        },
    ]
}
