internal import Base
internal import Contents
internal import HTTPModel
internal import HTTPServer

/// What does not change an upload, or ends it.
extension UploadRoutes {
    func find(_ request: ServerRequest) throws(UploadRefusal) -> StoredUpload {
        guard let upload = store[request.match["name"]] else {
            throw UploadRefusal(404, "there is no such upload; begin a new one")
        }
        if UploadStore.isOver(upload.facts.record, now: Self.now(request)) {
            store.remove(upload)
            throw UploadRefusal(410, "the upload's time is over; begin a new one")
        }
        return upload
    }

    /// How far an upload is; whatever append goes on ends with that, unless it is a page of another
    /// site that asks.
    ///
    /// In tus an upload is complete when its offset is its length: who is told so asks no more, and
    /// the append that brought the last byte may have been ended ahead of its end. So it is completed
    /// first; for a page of another site only if nobody else is about to do it, whom it would hinder.
    func state(
        _ request: ServerRequest, _ dialect: UploadDialect
    ) async throws(UploadRefusal) -> ServerResponse {
        let dialect = dialect == .plain ? .standard : dialect
        let upload = try find(request)
        let isOfAnother = ClientLabel.isOfAnotherSite(request)
        var facts = isOfAnother ? upload.facts : upload.takeOver()?.facts ?? upload.facts
        guard !facts.isAltered, store.opened(upload) != nil else {
            throw UploadRefusal(store.has(upload) ? UploadStore.altered : UploadStore.removed)
        }
        if dialect == .tus, facts.offset == facts.record.length, !facts.record.isComplete,
            facts.record.dialect == UploadDialect.tus.name, !facts.record.comesAtOnce
        {
            if isOfAnother, upload.isBeingWritten { throw .isDigested }
            try await complete(upload, facts.offset)
            guard store.has(upload) else { throw UploadRefusal(UploadStore.removed) }
            facts = upload.facts
        }
        var fields = progress(facts, dialect, now: Self.now(request))
        fields.append(ResponseField("Cache-Control", "no-store"))
        if dialect == .tus {
            if let metadata = facts.record.metadata {
                fields.append(ResponseField("Upload-Metadata", metadata))
            }
            if facts.record.isPartial { fields.append(ResponseField("Upload-Concat", "partial")) }
            return ServerResponse(200, fields)
        }
        return ServerResponse(204, fields)
    }

    func progress(
        _ facts: StoredUpload.Facts, _ dialect: UploadDialect, now: Int64
    ) -> [ResponseField] {
        let record = facts.record
        var fields = [ResponseField("Upload-Offset", String(facts.offset))]
        fields += dialect.completion(record.isComplete) + dialect.marks
        if dialect == .tus {
            fields.append(
                record.length.map { ResponseField("Upload-Length", String($0)) }
                    ?? ResponseField("Upload-Defer-Length", "1"))
            if !record.isComplete {
                let date = HTTPDate(seconds: record.expiry).text
                fields.append(ResponseField("Upload-Expires", date))
            }
        } else if dialect.tellsLengthAndLimit {
            if let length = record.length {
                fields.append(ResponseField("Upload-Length", String(length)))
            }
            fields += dialect.limits(
                size: store.limits.byteCount, age: record.isComplete ? nil : record.expiry - now)
        }
        return fields
    }

    func cancel(
        _ request: ServerRequest, _ dialect: UploadDialect
    ) throws(UploadRefusal) -> ServerResponse {
        store.remove(try find(request))
        return ServerResponse(204, dialect.marks)
    }

    func options(_ dialect: UploadDialect) -> ServerResponse {
        let limit = String(store.limits.byteCount)
        return ServerResponse(
            204,
            [
                ResponseField("Allow", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
                ResponseField("Accept-Patch", Self.patchTypes),
                ResponseField("Upload-Limit", "max-size=\(limit), max-age=\(store.limits.age)"),
                ResponseField("Tus-Resumable", "1.0.0"), ResponseField("Tus-Version", "1.0.0"),
                ResponseField("Tus-Max-Size", limit),
                ResponseField(
                    "Tus-Extension",
                    "creation,creation-with-upload,creation-defer-length,expiration,checksum,"
                        + "termination,concatenation"),
                ResponseField(
                    "Tus-Checksum-Algorithm",
                    ExpectedDigest.checksums.keys.sorted().joined(separator: ",")),
            ] + (dialect == .tus ? [] : dialect.marks))
    }

    /// What was uploaded, whole or in parts.
    func content(_ request: ServerRequest) throws(UploadRefusal) -> ServerResponse {
        _ = try find(request)
        // Another may have come to its place since.
        guard let (facts, file) = store.opened(request.match["name"]) else {
            _ = try find(request)
            throw .altered
        }
        guard !facts.isAltered else { throw .altered }
        guard let sum = facts.record.sha256 else {
            throw UploadRefusal(409, "the upload is not complete: it has \(facts.offset) bytes")
        }
        var representation = Representation(
            contentType: "application/octet-stream", length: facts.offset,
            validators: Validators(entityTag: EntityTag(sum), lastModified: nil)
        ) { FileSource(file, range: $0) }
        representation.cacheControl = "no-cache"
        return representation.response(to: request)
    }

    func list(_ request: ServerRequest) -> ServerResponse {
        json(
            200,
            [
                "schema": "sallyport.uploads/1",
                "limit": .integer(Int64(clamping: store.limits.byteCount)),
                "uploads": .each(store.all) { Self.description($0) },
            ])
    }
}
