internal import Base
internal import Contents
internal import HTTPModel
internal import HTTPServer

/// What a request that begins an upload says of it.
struct UploadCreation {
    let dialect: UploadDialect
    let record: UploadRecord
    /// The client's name for it, which is no path.
    let wish: [UInt8]?
    /// Whether the upload ends with this content; `nil` if its length tells.
    let completes: Bool?
    /// The uploads that it is put together of (tus, concatenation); `nil` for none.
    private(set) var joined: String?

    /// A file of a form, or what else comes in one request.
    init(plain wish: [UInt8]?, expiry: Int64) {
        (dialect, completes) = (.plain, true)
        record = UploadRecord(dialect: UploadDialect.plain.name, expiry: expiry)
        self.wish = wish
    }

    /// - Parameters:
    ///   - contentLength: of the request, in bytes; `nil` if it does not say.
    ///   - now: in seconds since 1970.
    init(
        _ request: ServerRequest, contentLength: UInt64?, now: Int64, limits: UploadStore.Limits
    ) throws(UploadRefusal) {
        let fields = request.fields
        dialect = UploadDialect(fields)
        var record = UploadRecord(dialect: dialect.name, expiry: now + limits.age)
        switch dialect {
        case .plain:
            guard
                fields.first(named: "upload-complete")?.first != UInt8(ascii: "?")
                    || fields.first(named: "upload-complete")?.dropFirst().first
                        == UInt8(ascii: "1")
            else {
                throw UploadRefusal(400, "this version of resumable uploads is not known: 3 to 8")
            }
            completes = true
            record.length = contentLength
        case .tus:
            completes = nil
            let concat = fields.first(named: "upload-concat")?.text ?? ""
            record.length = concat.hasPrefix("final;") ? nil : try Self.tusLength(fields)
            record.metadata = try Self.metadata(fields)
            record.isPartial = concat == "partial"
            record.isJoined = concat.hasPrefix("final;")
            joined = concat.hasPrefix("final;") ? String(concat.dropFirst(6)) : nil
        case .draft, .standard:
            completes = dialect.completes(fields)
            guard let completes else {
                throw UploadRefusal(400, "no \(dialect.completion(true)[0].name) says ?0 or ?1")
            }
            record.length = try Self.length(
                fields, at: 0, contentLength: completes ? contentLength : nil, known: nil)
        }
        record.wanted = try ExpectedDigest.representation(fields)
        wish = try Self.wish(request, dialect)
        self.record = record
    }

    /// The length that the fields tell, which have to agree.
    ///
    /// - Parameter contentLength: of what the upload ends with, in bytes; `nil` if it does not end
    ///   here, or nobody knows.
    static func length(
        _ fields: Fields, at offset: UInt64, contentLength: UInt64?, known: UInt64?
    ) throws(UploadRefusal) -> UInt64? {
        let told = fields.first(named: "upload-length").flatMap { integer($0) }
        let end = contentLength.map { offset.addingReportingOverflow($0) }
        if let end, end.overflow { throw .inconsistentLength("the content ends nowhere") }
        if let told, told < offset {
            throw .inconsistentLength("the upload has \(offset) bytes, and not \(told)")
        }
        let all = [told, end?.partialValue, known].compactMap(\.self)
        guard let first = all.first, all.contains(where: { $0 != first }) else {
            return all.first
        }
        throw .inconsistentLength(
            "the upload's length cannot be all of \(all.map { String($0) }.joined(separator: ", "))"
        )
    }

    /// A number of a structured field (RFC 9651 §3.3.1); `nil` for anything else, which counts as no
    /// field.
    static func integer(_ field: ArraySlice<UInt8>) -> UInt64? {
        let digits = [UInt8](ParameterizedValue(field).text.utf8)
        return digits.count <= 15 ? decimal(digits) : nil
    }

    private static func tusLength(_ fields: Fields) throws(UploadRefusal) -> UInt64? {
        if let field = fields.first(named: "upload-length") {
            guard let length = decimal(field) else {
                throw UploadRefusal(400, "Upload-Length is no number of bytes")
            }
            return length
        }
        guard fields.first(named: "upload-defer-length")?.text == "1" else {
            throw UploadRefusal(400, "Upload-Length is missing, or Upload-Defer-Length: 1")
        }
        return nil
    }

    /// Errors: what would not stand in one line of the state file.
    private static func metadata(_ fields: Fields) throws(UploadRefusal) -> String? {
        guard let field = fields.first(named: "upload-metadata") else { return nil }
        guard field.count <= 4096, field.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw UploadRefusal(400, "Upload-Metadata is no ASCII, or longer than 4096 bytes")
        }
        return field.text
    }

    /// By the path, else by a field.
    private static func wish(
        _ request: ServerRequest, _ dialect: UploadDialect
    ) throws(UploadRefusal) -> [UInt8]? {
        let name = request.match["name"]
        if !name.isEmpty {
            guard UploadStore.isName(name) else {
                throw UploadRefusal(
                    400, "a name has letters, digits, '.', '_' and '-', and no dot at its start")
            }
            return name
        }
        if dialect == .tus {
            let pairs =
                request.fields.first(named: "upload-metadata")?.prefix(4096)
                .split(separator: UInt8(ascii: ",")) ?? []
            for pair in pairs {
                let words = pair.split(separator: 0x20)
                guard words.count == 2, words[0].elementsEqual("filename".utf8) else { continue }
                return Base64.decode(words[1])
            }
            return nil
        }
        return request.fields.first(named: "content-disposition")
            .flatMap { ParameterizedValue($0)["filename"] }
    }
}
