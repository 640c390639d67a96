internal import Base
internal import Contents
internal import HTTPModel
internal import HTTPServer

/// Uploads that are put together of others, and forms of which several are taken.
extension UploadRoutes {
    /// Joins uploads that there are (tus 1.0, concatenation).
    func join(
        _ creation: UploadCreation, _ request: ServerRequest
    ) async throws(UploadRefusal) -> ServerResponse {
        var parts: [StoredUpload] = []
        for url in (creation.joined ?? "").split(separator: " ", maxSplits: Self.joinLimit) {
            let name = [UInt8]((url.split(separator: "/").last ?? "").utf8)
            guard let part = store[name], part.facts.record.isPartial,
                part.facts.record.isComplete, !part.facts.isAltered
            else {
                throw UploadRefusal(400, "\(name.prefix(120).text) is no complete part of another")
            }
            parts.append(part)
        }
        guard !parts.isEmpty else { throw UploadRefusal(400, "there is nothing to join") }
        let upload = try await make(creation, request)
        let reception = UploadReception(
            store: store, upload: upload, dialect: .tus, turn: StoredUpload.firstTurn, start: 0)
        do throws(UploadRefusal) {
            let end = try await reception.receive(JoinedContent(parts, store))
            return completed(
                try await finish(upload, end, turn: StoredUpload.firstTurn), .tus, status: 201)
        } catch {
            store.remove(upload, turn: StoredUpload.firstTurn)
            throw error
        }
    }

    /// Takes each file of a form as an upload, and tells the other fields back.
    func form(
        _ body: RequestBody, boundary: [UInt8], _ request: ServerRequest
    ) async throws(UploadRefusal) -> ServerResponse {
        guard (1...70).contains(boundary.count) else {
            throw UploadRefusal(400, "the Content-Type of a form needs a boundary")
        }
        // What a form represents is what it holds.
        let digests =
            try ExpectedDigest.content(request.fields)
            + ExpectedDigest.representation(request.fields)
        let form = MultipartContent(body, boundary: boundary, digests: digests)
        // Nothing is complete before all has come, and is what it should be.
        var taken: [(upload: StoredUpload, length: UInt64)] = []
        var whole: [JSONText] = []
        var fields: [JSONText] = []
        var fieldBytes = 0
        do throws(Failure) {
            while let part = try await form.next() {
                guard taken.count + fields.count < Self.partLimit else {
                    throw Failure(
                        "request-too-large", party: .client, "more than \(Self.partLimit) parts")
                }
                if part.isFile {
                    taken.append(try await file(part.fileName, form, request))
                } else {
                    let value = try await form.collect(byteLimit: Self.fieldLimit - fieldBytes)
                    fieldBytes += value.count
                    fields.append([
                        "name": .bytes(part.name ?? []), "value": .bytes(value),
                    ])
                }
            }
            try await form.check()
            for (upload, length) in taken {
                whole.append(Self.description(try await formed(upload, length)))
            }
        } catch {
            // Who sends the form again would have them twice.
            for (upload, _) in taken { store.remove(upload) }
            throw UploadRefusal(error.code == "request-too-large" ? 413 : 400, error.detail)
        }
        return json(201, ["uploads": .array(whole), "fields": .array(fields)])
    }

    private func file(
        _ name: [UInt8]?, _ content: MultipartContent, _ request: ServerRequest
    ) async throws(Failure) -> (StoredUpload, UInt64) {
        do throws(UploadRefusal) {
            let creation = UploadCreation(
                plain: name, expiry: Self.now(request) + store.limits.age)
            let upload = try await make(creation, request)
            let reception = UploadReception(
                store: store, upload: upload, dialect: .plain, turn: StoredUpload.firstTurn,
                start: 0)
            do throws(UploadRefusal) {
                return (upload, try await reception.receive(content))
            } catch {
                store.remove(upload, turn: StoredUpload.firstTurn)
                throw error
            }
        } catch {
            throw Self.failure(error)
        }
    }

    private func formed(
        _ upload: StoredUpload, _ length: UInt64
    ) async throws(Failure) -> StoredUpload {
        do throws(UploadRefusal) {
            return try await finish(upload, length, turn: StoredUpload.firstTurn)
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ refusal: UploadRefusal) -> Failure {
        Failure(
            refusal.status == 413 ? "request-too-large" : "request-body", party: .client,
            refusal.title)
    }

    private static let joinLimit = 1000
    private static let partLimit = 1000
    /// Of all fields of a form that are no files, in bytes.
    private static let fieldLimit = 65_536
}

/// Files one behind the other.
private final class JoinedContent: UploadContent {
    private var parts: ArraySlice<StoredUpload>
    private let store: UploadStore
    /// Of the first part, once its turn has come: each has a descriptor.
    private var source: FileSource?

    init(_ parts: [StoredUpload], _ store: UploadStore) {
        self.parts = parts[...]
        self.store = store
    }

    func read(into buffer: ByteBuffer) async throws(Failure) -> Int {
        while let part = parts.first {
            if source == nil { source = try open(part) }
            guard let source else { break }
            // Other connections of this loop get their turn after every piece.
            await Task.yield()
            do throws(ResponseInterruption) {
                let count = try await source.read(into: buffer)
                if count > 0 { return count }
            } catch {
                throw error.cause
            }
            parts.removeFirst()
            self.source = nil
        }
        return 0
    }

    private func open(_ part: StoredUpload) throws(Failure) -> FileSource {
        guard let opened = store.opened(part) else {
            throw Failure("file-unreadable", party: .tool, "a part is not there any more")
        }
        return FileSource(opened.file, range: 0..<opened.facts.offset)
    }

    func tell(_ fields: [ResponseField]) async {}
}
