internal import Base
internal import Contents
internal import HTTPModel
internal import HTTPServer

/// `/uploads`: PUT, multipart, resumable uploads (draft-ietf-httpbis-resumable-upload) and tus 1.0,
/// which keep what they get in one store.
struct UploadRoutes: Sendable {
    let store: UploadStore
    let seed: UInt64

    init(_ store: UploadStore, _ configuration: ContentServerConfiguration) {
        self.store = store
        seed = configuration.seed
    }

    var routes: [Route] {
        let answer: Answer = { request, body in await self.answer(request, body) }
        return [
            Route([.get, .post, .put, .options], "/uploads", answer: answer),
            // HEAD tells the upload's state, and not what GET would.
            Route(
                [.head, .get, .put, .post, .patch, .delete, .options], "/uploads/:name",
                answer: answer),
            // As clients write it that add the name of their file, or no name at all.
            Route([.get, .post, .put, .options], "/uploads/*", answer: answer),
        ]
    }

    private func answer(_ request: ServerRequest, _ body: RequestBody) async -> ServerResponse {
        let dialect = UploadDialect(request.fields)
        do throws(UploadRefusal) {
            return try await route(request, body, dialect)
        } catch {
            return error.response(dialect)
        }
    }

    private func route(
        _ request: ServerRequest, _ body: RequestBody, _ dialect: UploadDialect
    ) async throws(UploadRefusal) -> ServerResponse {
        // For clients that know few methods, as tus has it.
        let override = request.fields.first(named: "x-http-method-override")
        let method =
            request.method == .post
            ? override.map { RequestMethod($0) } ?? .post : request.method
        if method == .options { return options(dialect) }
        if dialect == .tus, request.fields.first(named: "tus-resumable")?.text != "1.0.0" {
            var refusal = UploadRefusal(412, "of tus, there is version 1.0.0 only")
            refusal.fields = [ResponseField("Tus-Version", "1.0.0")]
            throw refusal
        }
        let isOfOne = !request.match["name"].isEmpty
        guard request.match.rest.allSatisfy(\.isEmpty), request.match.rest.count < 2 else {
            throw UploadRefusal(404, "there are no folders in /uploads")
        }
        switch method {
        case .get: return isOfOne ? try content(request) : list(request)
        case .head where isOfOne: return try await state(request, dialect)
        case .delete where isOfOne: return try cancel(request, dialect)
        case .patch where isOfOne: return try await append(request, body, dialect)
        case .put, .post: return try await create(request, body)
        default: throw UploadRefusal(405, "\(method.text.prefix(20)) does nothing here")
        }
    }

    // MARK: Creating

    private func create(
        _ request: ServerRequest, _ body: RequestBody
    ) async throws(UploadRefusal) -> ServerResponse {
        let now = Self.now(request)
        let creation = try UploadCreation(
            request, contentLength: body.length, now: now, limits: store.limits)
        let dialect = creation.dialect
        if creation.joined != nil { return try await join(creation, request) }
        let type = request.fields.first(named: "content-type").map(ParameterizedValue.init)
        if dialect == .plain, type?.text == "multipart/form-data", request.method == .post {
            return try await form(body, boundary: type?["boundary"] ?? [], request)
        }
        let upload = try await make(creation, request)
        upload.beginWriting()
        defer { upload.endWriting() }
        let location = [ResponseField("Location", "/uploads/\(upload.name)")]
        if dialect.isResumable {
            await body.inform(
                104,
                location + dialect.limits(size: store.limits.byteCount, age: store.limits.age)
                    + dialect.marks)
        }
        do throws(UploadRefusal) {
            let (end, isWhole) = try await receive(
                body, request, upload, dialect, completes: creation.completes)
            if isWhole {
                let named = try await finish(
                    upload, end, turn: StoredUpload.firstTurn,
                    replacing: dialect == .plain && request.method == .put
                        ? request.match["name"] : nil)
                return completed(named, dialect, status: 201)
            }
            let fields = location + progress(upload.facts, dialect, now: now)
            return ServerResponse(201, fields)
        } catch {
            // Its client cannot go on with it.
            if dialect == .plain { store.remove(upload, turn: StoredUpload.firstTurn) }
            throw error
        }
    }

    func make(
        _ creation: UploadCreation, _ request: ServerRequest
    ) async throws(UploadRefusal) -> StoredUpload {
        let client = ClientLabel.of(request)
        // Uploads of others end by the true clock alone.
        let (store, seed, ended) = (store, seed, request.date.seconds)
        let (wish, record) = (creation.wish, creation.record)
        do throws(Failure) {
            return try await besideLoop { () throws(Failure) in
                try store.make(wish, record, client: client, seed: seed, now: ended)
            }
        } catch {
            var refusal = UploadRefusal(error)
            refusal.fields = creation.dialect.limits(size: store.limits.byteCount, age: nil)
            throw refusal
        }
    }

    // MARK: Going on

    private func append(
        _ request: ServerRequest, _ body: RequestBody, _ dialect: UploadDialect
    ) async throws(UploadRefusal) -> ServerResponse {
        let upload = try find(request)
        // Without a version or a field that tells, it is a request of the RFC that lacks one.
        let dialect = dialect == .plain ? .standard : dialect
        try checkType(request, dialect)
        guard let field = request.fields.first(named: "upload-offset"),
            let offset = dialect == .tus ? decimal(field) : UploadCreation.integer(field)
        else { throw UploadRefusal(400, "Upload-Offset is missing, or no number of bytes") }
        guard let (turn, facts) = upload.takeOver() else {
            throw UploadRefusal(409, "the upload comes by one request, and is not gone on with")
        }
        upload.beginWriting()
        defer { upload.endWriting() }
        guard !facts.isAltered else { throw .altered }
        guard !facts.record.isComplete || dialect == .tus else { throw .completed }
        guard offset == facts.offset else {
            throw .wrongOffset(offset, expected: facts.offset, dialect)
        }
        let completes = dialect.completes(request.fields) ?? (dialect == .draft(3) ? true : nil)
        guard dialect == .tus || completes != nil else {
            throw UploadRefusal(400, "no \(dialect.completion(true)[0].name) says ?0 or ?1")
        }
        let length = try length(
            request, at: offset, body.length, completes: completes == true, facts.record, dialect)
        let wanted = try ExpectedDigest.representation(
            request.fields, beside: facts.record.wanted)
        if wanted != facts.record.wanted || length != facts.record.length {
            try await change(upload, turn: turn) { record in
                guard !record.isComplete else { return }
                (record.length, record.wanted) = (length, wanted)
            }
        }
        let record = upload.facts.record
        if record.isComplete {
            // An empty append changes nothing, but it may say what should be there.
            let told = wanted.filter { !record.wanted.contains($0) }
            if !told.isEmpty { try await digested(upload, offset, told) }
        }
        let (end, isWhole) = try await receive(
            body, request, upload, dialect, completes: completes, turn: turn, at: offset)
        if isWhole {
            return completed(
                try await finish(upload, end, turn: turn), dialect,
                status: dialect == .tus ? 204 : 200)
        }
        return ServerResponse(
            dialect.appendedStatus, progress(upload.facts, dialect, now: Self.now(request)))
    }

    /// The length that an append tells, or an earlier request has told.
    private func length(
        _ request: ServerRequest, at offset: UInt64, _ more: UInt64?, completes: Bool,
        _ record: UploadRecord, _ dialect: UploadDialect
    ) throws(UploadRefusal) -> UInt64? {
        let length = try UploadCreation.length(
            request.fields, at: offset, contentLength: completes ? more : nil,
            known: record.length)
        guard let length else { return nil }
        guard offset <= length else { throw .altered }
        if length > store.limits.byteCount {
            var refusal = UploadRefusal(413, "the upload is longer than all may be together")
            refusal.fields = dialect.limits(size: store.limits.byteCount, age: nil)
            throw refusal
        }
        if dialect == .tus, let more, more > length - offset {
            throw UploadRefusal(413, "the upload's length is \(length), and more would come")
        }
        return length
    }

    private func checkType(
        _ request: ServerRequest, _ dialect: UploadDialect
    ) throws(UploadRefusal) {
        let type = request.fields.first(named: "content-type").map { ParameterizedValue($0).text }
        let wanted =
            dialect == .tus
            ? "application/offset+octet-stream"
            : dialect.needsPartialType ? "application/partial-upload" : type
        guard type == wanted else {
            var refusal = UploadRefusal(415, "the Content-Type of an append is \(wanted ?? "")")
            refusal.fields = [ResponseField("Accept-Patch", Self.patchTypes)]
            throw refusal
        }
    }

    /// - Returns: how far the upload is, and whether that is all of it.
    private func receive(
        _ body: RequestBody, _ request: ServerRequest, _ upload: StoredUpload,
        _ dialect: UploadDialect, completes: Bool?, turn: UInt64 = StoredUpload.firstTurn,
        at start: UInt64 = 0
    ) async throws(UploadRefusal) -> (end: UInt64, isWhole: Bool) {
        var reception = UploadReception(
            store: store, upload: upload, dialect: dialect, turn: turn, start: start)
        reception.checksums = try ExpectedDigest.content(request.fields)
        if dialect == .tus, let field = request.fields.first(named: "upload-checksum") {
            guard let checksum = ExpectedDigest(checksum: field) else {
                throw UploadRefusal(400, "Upload-Checksum has another algorithm, or no digest")
            }
            reception.checksums.append(checksum)
        }
        let end = try await reception.receive(body)
        let length = upload.facts.record.length
        guard completes ?? (length == end) else { return (end, false) }
        guard length == nil || length == end else {
            throw .inconsistentLength(
                "the upload says that it is complete with \(end) of \(length ?? 0) bytes")
        }
        return (end, true)
    }

    private func change(
        _ upload: StoredUpload, turn: UInt64?, at size: UInt64? = nil,
        _ body: @escaping @Sendable (inout UploadRecord) -> Void
    ) async throws(UploadRefusal) {
        do throws(Failure) {
            try await besideLoop { () throws(Failure) in
                try upload.change(turn: turn, at: size, body)
            }
        } catch {
            throw UploadRefusal(error)
        }
    }

    // MARK: Ending

    /// Ends an upload, and gives it the name of the one that it replaces.
    func finish(
        _ upload: StoredUpload, _ length: UInt64, turn: UInt64, replacing name: [UInt8]? = nil
    ) async throws(UploadRefusal) -> StoredUpload {
        // From now on nobody appends, whoever takes the turn: there is no room behind the length.
        try await change(upload, turn: turn, at: length) { $0.length = length }
        try await complete(upload, length)
        guard let name, !name.elementsEqual(upload.name.utf8), !name.isEmpty else {
            guard store.has(upload) else { throw UploadRefusal(UploadStore.removed) }
            return upload
        }
        do throws(Failure) {
            return try await besideLoop { [store] () throws(Failure) in
                try store.move(upload, to: name.text)
            }
        } catch {
            throw UploadRefusal(error)
        }
    }

    /// Compares all that came with what it should be, and removes it if it is not; nothing if it is
    /// complete.
    func complete(_ upload: StoredUpload, _ length: UInt64) async throws(UploadRefusal) {
        // Once more if an append has told another digest meanwhile.
        while !upload.facts.record.isComplete {
            let wanted = upload.facts.record.wanted
            do throws(UploadRefusal) {
                let whole = try await digested(upload, length, wanted)
                try await change(upload, turn: nil) {
                    if $0.wanted == wanted { $0.sha256 = whole.hex }
                }
            } catch {
                guard error.status == 422 else { throw error }
                store.remove(upload)
                throw UploadRefusal(error.status, "\(error.title): it was removed")
            }
        }
    }

    /// Digests the whole as it is on the disk, which one request at a time does of an upload.
    ///
    /// - Returns: its SHA-256.
    ///
    /// Errors: 422 if it is not what is wanted; 423 while another request does it.
    @discardableResult
    private func digested(
        _ upload: StoredUpload, _ length: UInt64, _ wanted: [ExpectedDigest]
    ) async throws(UploadRefusal) -> [UInt8] {
        guard upload.beginDigest() else { throw .isDigested }
        defer { upload.endDigest() }
        try await sync(upload)
        let whole = try await digestWhole(.sha256, upload, length)
        for wanted in wanted {
            let sum =
                wanted.algorithm == .sha256
                ? whole : try await digestWhole(wanted.algorithm, upload, length)
            guard sum == wanted.digest else {
                throw UploadRefusal(
                    422,
                    "the upload's \(wanted.algorithm.rawValue) is \(Base64.encode(sum)), and"
                        + " not what Repr-Digest says")
            }
        }
        return whole
    }

    /// Waits until the disk has all that came: the append that brought it may not have got to it.
    private func sync(_ upload: StoredUpload) async throws(UploadRefusal) {
        do throws(Failure) {
            try await besideLoop { [store] () throws(Failure) in try store.sync(upload) }
        } catch {
            throw UploadRefusal(error)
        }
    }

    private func digestWhole(
        _ algorithm: DigestAlgorithm, _ upload: StoredUpload, _ length: UInt64
    ) async throws(UploadRefusal) -> [UInt8] {
        guard let (_, file) = store.opened(upload), file.identity.size >= length else {
            throw UploadRefusal(UploadStore.removed)
        }
        do throws(ResponseInterruption) {
            // A client that has gone may come back for what it has sent.
            return try await digest(algorithm, outlivesClient: true) {
                FileSource(file, range: 0..<length)
            }
        } catch {
            throw UploadRefusal(500, "cannot read the upload")
        }
    }

    func completed(
        _ upload: StoredUpload, _ dialect: UploadDialect, status: Int
    ) -> ServerResponse {
        let facts = upload.facts
        var fields = dialect.completion(true) + dialect.marks
        if status == 201 { fields.append(ResponseField("Location", "/uploads/\(upload.name)")) }
        if dialect != .plain {
            fields.append(ResponseField("Upload-Offset", String(facts.offset)))
        }
        if let sum = facts.record.sha256.flatMap({ bytes(fromHex: $0) }) {
            fields.append(ResponseField("Repr-Digest", "sha-256=:\(Base64.encode(sum)):"))
        }
        guard status != 204 else { return ServerResponse(status, fields) }
        var response = json(status, Self.description(upload))
        response.fields += fields
        return response
    }

    static func description(_ upload: StoredUpload) -> JSONText {
        let facts = upload.facts
        return [
            "name": .string(upload.name), "url": .string("/uploads/\(upload.name)"),
            "dialect": .string(facts.record.dialect),
            "offset": .integer(Int64(clamping: facts.offset)),
            "length": .optional(facts.record.length), "sha256": .optional(facts.digest),
        ]
    }

    static func now(_ request: ServerRequest) -> Int64 { request.seconds }

    static let patchTypes = "application/partial-upload, application/offset+octet-stream"
}
