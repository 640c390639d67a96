internal import Base
internal import Contents

/// How values are written in a journal, and read again. What a newer version has written besides is
/// not looked at.
extension TransferPlan {
    var journal: JSONText {
        .sparse([
            "session": .string(session), "kind": .string(kind.rawValue), "url": .string(url),
            "file": .optional(file), "options": options.journal,
        ])
    }

    init?(_ value: JSONObject) {
        guard let session = value.text("session"), let url = value.text("url"),
            let kind = value.text("kind").flatMap(TransferTask.Kind.init)
        else { return nil }
        self.init(kind, url, file: value.text("file"), session: session)
        options = value.object("options").map { TransferOptions($0) } ?? TransferOptions()
    }
}

extension TransferOptions {
    var journal: JSONText {
        .sparse([
            "discretionary": .boolean(isDiscretionary), "wake": .boolean(isFromWake),
            "stranger": .boolean(isFromStranger),
            "cellular": .boolean(allowsCellular), "waits": .boolean(waitsForConnectivity),
            "priority": .integer(Int64(priority)), "storage": .string(storage.rawValue),
            "expected": expected?.journal ?? .null, "byteLimit": .optional(byteLimit),
            "credential": .optional(credential), "retryLimit": .integer(Int64(retryLimit)),
            "authorities": .optional(authorities), "pins": .texts(pins.map(\.hex)),
            "fields": .array(
                fields.map { ["name": .string($0.name), "value": .string($0.value)] }),
            "replaces": .boolean(replacesFile),
            "upload": upload == UploadOptions() ? .null : upload.journal,
        ])
    }

    init(_ value: JSONObject) {
        isDiscretionary = value.boolean("discretionary") ?? isDiscretionary
        isFromWake = value.boolean("wake") ?? isFromWake
        isFromStranger = value.boolean("stranger") ?? isFromStranger
        allowsCellular = value.boolean("cellular") ?? allowsCellular
        waitsForConnectivity = value.boolean("waits") ?? waitsForConnectivity
        priority = value.integer("priority").map { Int(clamping: $0) } ?? priority
        storage = value.text("storage").flatMap(StorageClass.init) ?? storage
        expected = value.object("expected").flatMap { ExpectedDigest($0) }
        byteLimit = value.integer("byteLimit")
        credential = value.text("credential")
        retryLimit = value.integer("retryLimit").map { Int(clamping: $0) } ?? retryLimit
        authorities = value.text("authorities")
        // What cannot be read is a pin that no key has: fewer than were asked for would let more in.
        if value.has("pins"), !value.isNull("pins") {
            pins = value.texts("pins")?.map { bytes(fromHex: $0) ?? [] } ?? [[]]
        }
        fields = (value.objects("fields") ?? []).compactMap { field in
            guard let name = field.text("name"), let value = field.text("value") else {
                return nil
            }
            return TransferField(name, value)
        }
        replacesFile = value.boolean("replaces") ?? replacesFile
        upload = value.object("upload").map { UploadOptions($0) } ?? upload
    }

    /// The first member that is there and was not read: for whoever asks, as a transfer without it would not
    /// be what they want. A journal may be of a newer version.
    func unread(in value: JSONObject) -> StaticString? {
        let upload = value.object("upload")
        let members: [(name: StaticString, isRead: Bool)] = [
            ("discretionary", value.boolean("discretionary") != nil),
            ("wake", value.boolean("wake") != nil), ("stranger", value.boolean("stranger") != nil),
            ("cellular", value.boolean("cellular") != nil),
            ("waits", value.boolean("waits") != nil),
            ("priority", value.integer("priority") != nil),
            ("storage", value.text("storage") == storage.rawValue), ("expected", expected != nil),
            ("byteLimit", byteLimit.map { $0 >= 0 } ?? false), ("credential", credential != nil),
            ("retryLimit", value.integer("retryLimit") != nil), ("authorities", authorities != nil),
            ("fields", value.objects("fields")?.count == fields.count),
            ("replaces", value.boolean("replaces") != nil),
            ("upload", upload.map { self.upload.reads($0) } ?? false),
        ]
        return members.first { value.has($0.name) && !value.isNull($0.name) && !$0.isRead }?.name
    }
}

extension UploadOptions {
    var journal: JSONText {
        .sparse([
            "mode": .string(mode.rawValue), "version": .string(version.name),
            "method": .optional(method), "field": .string(field),
            "type": .optional(contentType),
        ])
    }

    init(_ value: JSONObject) {
        mode = value.text("mode").flatMap(Mode.init) ?? mode
        version = value.text("version").flatMap { UploadDialect(name: $0) } ?? version
        method = value.text("method")
        field = value.text("field") ?? field
        contentType = value.text("type")
    }

    /// Whether all that is there was read.
    fileprivate func reads(_ value: JSONObject) -> Bool {
        let members: [(name: StaticString, isRead: Bool)] = [
            ("mode", value.text("mode") == mode.rawValue),
            ("version", value.text("version") == version.name),
            ("method", method != nil), ("field", value.text("field") != nil),
            ("type", contentType != nil),
        ]
        return members.allSatisfy { !value.has($0.name) || value.isNull($0.name) || $0.isRead }
    }
}

extension ExpectedDigest {
    var journal: JSONText {
        ["algorithm": .string(algorithm.rawValue), "bytes": .string(bytes.hex)]
    }

    init?(_ value: JSONObject) {
        guard let algorithm = value.text("algorithm").flatMap(DigestAlgorithm.init),
            let bytes = value.bytes("bytes"), bytes.count == algorithm.size
        else { return nil }
        self.init(algorithm, bytes)
    }
}

extension SavedVersion {
    var journal: JSONText {
        .sparse([
            "url": .string(url), "etag": .optional(entityTag),
            "modified": .optional(lastModified), "date": .optional(date),
            "length": .optional(length), "coding": .string(contentEncoding),
            "type": .string(contentType), "place": .optional(contentLocation),
            "digests": .array(digests.map(\.journal)),
        ])
    }

    init?(_ value: JSONObject) {
        guard let url = value.text("url") else { return nil }
        self.init(url: url)
        entityTag = value.text("etag")
        lastModified = value.text("modified")
        date = value.text("date")
        length = value.integer("length").flatMap { $0 >= 0 ? $0 : nil }
        contentEncoding = value.text("coding") ?? ""
        contentType = value.text("type") ?? ""
        contentLocation = value.text("place")
        digests = (value.objects("digests") ?? []).compactMap { ExpectedDigest($0) }
    }
}

extension Failure {
    var journal: JSONText {
        .sparse([
            "code": .string(code), "party": .string(party.rawValue), "detail": .string(detail),
            "hint": .optional(hint),
        ])
    }

    init?(_ value: JSONObject) {
        guard let code = value.text("code"), let detail = value.text("detail") else { return nil }
        let party = value.text("party").flatMap(Party.init) ?? .tool
        self.init(code, party: party, detail, hint: value.text("hint"))
    }
}
