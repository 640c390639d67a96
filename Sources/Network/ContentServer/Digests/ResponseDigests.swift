internal import Base
internal import HTTPModel
internal import HTTPServer
internal import TLS

/// Adds to responses the digests that their requests want (RFC 9530).
///
/// A digest that is known, or that takes little time, is in the head; one that would hold the
/// response up is in the trailers, if the content has them anyway or the client asks for them with
/// TE; else it is left out.
final class ResponseDigests: Sendable {
    /// What a digest is of. The path and the tag are digested themselves: they are a client's, and
    /// may be long.
    private struct Key: Hashable {
        let version: [UInt8]
        let algorithm: DigestAlgorithm
    }

    private let known = DigestCache<Key>()
    /// How much is digested before a response starts, in bytes.
    private let aheadByteLimit: UInt64

    init(aheadByteLimit: UInt64) {
        self.aheadByteLimit = aheadByteLimit
    }

    func added(
        to response: ServerResponse, for request: ServerRequest
    ) async -> ServerResponse {
        let wanted = WantedDigests(request)
        guard !wanted.isEmpty, response.status == 200 || response.status == 206 else {
            return response
        }
        var added = await added(wanted, to: response, for: request)
        added.isSteady = false
        return added
    }

    /// - Returns: the response without a digest that could not be made.
    func added(
        _ wanted: WantedDigests, to response: ServerResponse, for request: ServerRequest
    ) async -> ServerResponse {
        var response = response
        var late: [DigestField] = []
        for field in DigestField.all(wanted) {
            do throws(ResponseInterruption) {
                if let digest = try await ahead(field, of: response, request) {
                    response.fields.append(field.text(digest, wanted.lie))
                } else if field.isOfContent || response.status == 200 {
                    late.append(field)
                }
            } catch {
                continue
            }
        }
        guard !late.isEmpty else { return response }
        return trailing(late, wanted.lie, response, request)
    }

    /// The digest before the content is sent, `nil` if that takes too long or cannot be done.
    private func ahead(
        _ field: DigestField, of response: ServerResponse, _ request: ServerRequest
    ) async throws(ResponseInterruption) -> [UInt8]? {
        guard let selected = response.selected else {
            guard case .bytes(let bytes) = response.body else { return nil }
            let hash = RunningHash(field.algorithm)
            hash.update(bytes)
            return hash.finish()
        }
        if response.status == 206, field.isOfContent {
            guard let part = selected.part,
                part.upperBound - part.lowerBound <= aheadByteLimit
            else { return nil }
            return try await digest(field.algorithm) { selected.openPart() }
        }
        let key = Self.key(selected, request, field.algorithm)
        if let key, let digest = known[key] { return digest }
        guard let length = selected.length, length <= aheadByteLimit else { return nil }
        let digest = try await digest(field.algorithm) { selected.openWhole() }
        if let key { known.keep(digest, of: key) }
        return digest
    }

    private func trailing(
        _ fields: [DigestField], _ lie: DigestLie?, _ response: ServerResponse,
        _ request: ServerRequest
    ) -> ServerResponse {
        guard response.body.length == nil || request.fields.contains(.te, token: "trailers") else {
            return response
        }
        let selected = response.selected
        let path = request.path.raw
        let known = known
        let source = TrailingDigests(response.body.source, fields, lie) { algorithm, digest in
            guard response.status == 200, let selected else { return }
            if let key = Self.key(selected, path, algorithm) { known.keep(digest, of: key) }
        }
        var response = response
        response.body = .stream(length: nil, source)
        response.fields += fields.map { ResponseField("Trailer", $0.name.rawValue) }
        return response
    }

    private static func key(
        _ selected: SelectedRepresentation, _ path: [UInt8], _ algorithm: DigestAlgorithm
    ) -> Key? {
        guard let tag = selected.validators.entityTag, !tag.isWeak else { return nil }
        return Key(version: Digests.sha256(path + [0] + tag.opaque), algorithm: algorithm)
    }

    private static func key(
        _ selected: SelectedRepresentation, _ request: ServerRequest, _ algorithm: DigestAlgorithm
    ) -> Key? {
        key(selected, request.path.raw, algorithm)
    }
}
