package import Base
internal import Contents
internal import HTTPCodecs
internal import HTTPModel
internal import Redaction
package import Traffic

/// Writes each content as a file, its codings undone, with an index of them.
package struct BodyFolderExporter {
    package init() {}

    /// - Parameter create: makes a new file of this name; what is written to it is in pieces.
    ///
    /// Errors: those of the source and of the files.
    ///
    /// - Returns: what the files do not hold.
    package func export(
        _ source: any TrafficSource, _ options: ExportOptions,
        create: (_ name: String) throws -> OutputFile
    ) throws -> LossReport {
        let index = try create("index.json")
        var writer = BodyFolderWriter(
            source: source, options: options, json: JSONWriter { try index.write($0) })
        do { try writer.write(create) } catch {
            index.discard()
            throw error
        }
        try index.finish()
        return writer.losses
    }
}

private struct BodyFolderWriter {
    let source: any TrafficSource
    let options: ExportOptions
    var json: JSONWriter
    var losses = LossReport()

    mutating func write(_ create: (String) throws -> OutputFile) throws {
        try json.beginObject()
        try json.member("schema", "sallyport.bodies/1")
        try json.member("redacted", .boolean(!options.withSecrets))
        try json.name("bodies")
        try json.beginArray()
        var passed: Int64 = 0
        try source.exchanges { exchange in
            passed += 1
            try options.progress(passed)
            guard try options.includes?(exchange) ?? true else { return true }
            for direction in [Direction.request, .response] {
                try write(exchange, direction, create)
            }
            return true
        }
        try json.endArray()
        try json.endObject()
        json.breakLine()
        try json.flush()
    }

    private mutating func write(
        _ exchange: ExchangeRecord, _ direction: Direction,
        _ create: (String) throws -> OutputFile
    ) throws {
        let body = direction == .request ? exchange.requestBody : exchange.responseBody
        guard body.size > 0 else { return }
        let head = RecordedHead(
            direction == .request ? exchange.requestHead : exchange.responseHead)
        let plan = try HARContentPlan(
            exchange, direction, head: head, withSecrets: options.withSecrets, in: source,
            checkpoint: options.checkpoint)
        let side = direction == .request ? "request" : "response"
        note(plan, body, "the \(side) of exchange \(exchange.id)")
        let shown = options.withSecrets ? exchange : exchange.withoutSecretsInHeads
        let url = shown.url(RecordedHead(shown.requestHead))
        let type = Array(head.first(named: "content-type") ?? [])
        var name: String?
        if plan.claimed == nil {
            let made = BodyFileName.make(exchange.id, side, url: url, type: type)
            let file = try create(made)
            do { try plan.visit { try file.write($0) } } catch {
                file.discard()
                throw error
            }
            try file.finish()
            name = made
        }
        json.breakLine()
        try json.value([
            "file": .optional(name), "exchange": .integer(exchange.id), "direction": .string(side),
            "method": .bytes(Array(RecordedHead(shown.requestHead).method)), "url": .bytes(url),
            "status": exchange.status == 0 ? .null : .integer(Int64(exchange.status)),
            "type": .bytes(type),
            "size": .integer(plan.writtenSize),
            "wireSize": .integer(body.size),
            "codings": .array(plan.codings.map { .string($0.rawValue) }),
            "truncated": .boolean(body.isTruncated), "masked": .boolean(plan.isMasked),
        ])
    }

    private mutating func note(_ plan: HARContentPlan, _ body: BodyRecord, _ example: String) {
        if plan.claimed != nil {
            losses.note(.contentWithheld, example)
        } else if plan.isMasked {
            losses.note(.secretsMasked, example)
        }
        if plan.isLeftPacked { losses.note(.contentLeftPacked, example) }
        if body.isTruncated { losses.note(.contentCut, example) }
    }
}

/// Names of files that no peer can make into anything but a name.
enum BodyFileName {
    /// Such as `7-response-logo.png`: unique by the number and the side, whatever a file system
    /// makes of capital letters.
    static func make(_ exchange: Int64, _ side: String, url: [UInt8], type: [UInt8]) -> String {
        let path = (URLText(url)?.target ?? []).prefix { $0 != UInt8(ascii: "?") }
        let last = path.split(separator: UInt8(ascii: "/")).last ?? []
        let safe = last.prefix(lengthLimit).map { byte -> UInt8 in
            let isSafe = byte.isASCIILetter || byte.isASCIIDigit || byte == 0x2D || byte == 0x2E
            return isSafe ? byte : UInt8(ascii: "_")
        }
        var stem = safe.text
        while stem.hasSuffix(".") { stem.removeLast() }
        let name = "\(exchange)-\(side)" + (stem.isEmpty ? "" : "-\(stem)")
        let ending = endings[ParameterizedValue(type[...]).text]
        let hasEnding = stem.dropFirst().contains(".")
        return side == "response" && hasEnding || ending.map { stem.hasSuffix(".\($0)") } ?? false
            ? name : name + "." + (ending ?? "bin")
    }

    private static let lengthLimit = 60

    private static let endings = [
        "application/json": "json", "application/javascript": "js", "text/javascript": "js",
        "text/html": "html", "text/plain": "txt", "text/css": "css", "text/csv": "csv",
        "application/xml": "xml", "text/xml": "xml", "image/png": "png", "image/jpeg": "jpg",
        "image/gif": "gif", "image/webp": "webp", "image/svg+xml": "svg", "image/avif": "avif",
        "application/pdf": "pdf", "application/zip": "zip", "application/wasm": "wasm",
        "application/x-www-form-urlencoded": "form", "multipart/form-data": "multipart",
        "font/woff2": "woff2", "video/mp4": "mp4", "text/event-stream": "events",
        "application/grpc": "grpc",
    ]
}
