internal import Base
internal import HTTPModel

extension Representation {
    /// Answers GET and HEAD: negotiation, preconditions, ranges, in this order (RFC 9110 §13.2).
    ///
    /// A GET with a Range field always selects the variant without a coding, so that ranges count
    /// plain bytes; HEAD ignores Range (RFC 9110 §14.2).
    package func response(to request: ServerRequest) -> ServerResponse {
        let ranges = request.method == .get ? request.fields.all(named: "range") : []
        let accepted = AcceptEncoding(request.fields)
        guard accepted.acceptsIdentity || (hasGzip && accepted.acceptsGzip) else {
            var refusal = ServerResponse.plain(406)
            refusal.fields.append(ResponseField("Vary", "Accept-Encoding"))
            return refusal
        }
        let usesGzip =
            hasGzip
            && (!accepted.acceptsIdentity || (accepted.prefersGzip && ranges.isEmpty))
        let current = usesGzip ? gzipValidators : validators

        switch PreconditionRule.judge(
            request.fields, method: request.method, validators: current, now: request.date)
        {
        case .proceed: break
        case .failed: return .plain(412)
        case .notModified: return notModified(current)
        }
        if usesGzip { return compressed(current) }
        guard !ranges.isEmpty,
            PreconditionRule.rangeApplies(
                request.fields, validators: current, now: request.date)
        else { return whole() }
        switch ByteRanges.resolve(ranges, length: length) {
        case .whole: return whole()
        case .unsatisfiable: return unsatisfiable()
        case .parts(let parts) where parts.count == 1: return part(parts[0])
        case .parts(let parts): return multipart(parts)
        }
    }

    /// The compressed bytes are another representation, so they bear another strong tag.
    private var gzipValidators: Validators {
        guard let tag = validators.entityTag else { return validators }
        return Validators(
            entityTag: EntityTag("\(tag.opaque.text)-gzip", isWeak: tag.isWeak),
            lastModified: validators.lastModified)
    }

    private func whole() -> ServerResponse {
        ServerResponse(
            200, fields(validators, [ResponseField("Accept-Ranges", "bytes")]),
            body: .stream(length: length, open(0..<length)))
    }

    private func compressed(_ validators: Validators) -> ServerResponse {
        let source = GzipSource(open(0..<length))
        return ServerResponse(
            200, fields(validators, [ResponseField("Content-Encoding", "gzip")]),
            body: .stream(length: nil, source))
    }

    private func part(_ range: Range<UInt64>) -> ServerResponse {
        let extra = [ResponseField("Content-Range", contentRange(range))]
        return ServerResponse(
            206, fields(validators, extra),
            body: .stream(
                length: range.upperBound - range.lowerBound, open(range)))
    }

    private func multipart(_ ranges: [Range<UInt64>]) -> ServerResponse {
        let source = MultipartSource(self, ranges: ranges)
        let type = ResponseField(
            "Content-Type", "multipart/byteranges; boundary=\(source.boundary)")
        return ServerResponse(
            206, [type] + validatorFields(validators),
            body: .stream(length: source.length, source))
    }

    private func unsatisfiable() -> ServerResponse {
        var refusal = ServerResponse.plain(416)
        refusal.fields.append(
            ResponseField("Content-Range", ContentRange.unsatisfied(total: length).text))
        refusal.fields.append(ResponseField("Accept-Ranges", "bytes"))
        return refusal
    }

    /// What a cache needs to refresh its copy, and no more (RFC 9110 §15.4.5).
    private func notModified(_ validators: Validators) -> ServerResponse {
        let current =
            validators.entityTag == nil
            ? validators : Validators(entityTag: validators.entityTag, lastModified: nil)
        return ServerResponse(304, validatorFields(current))
    }

    func contentRange(_ range: Range<UInt64>) -> String {
        ContentRange.part(range, total: length).text
    }

    private func fields(
        _ validators: Validators, _ extra: [ResponseField]
    ) -> [ResponseField] {
        [ResponseField("Content-Type", contentType)] + validatorFields(validators) + extra
    }

    private func validatorFields(_ validators: Validators) -> [ResponseField] {
        var fields: [ResponseField] = []
        if let tag = validators.entityTag { fields.append(ResponseField("ETag", tag.text)) }
        if let date = validators.lastModified {
            fields.append(ResponseField("Last-Modified", date.text))
        }
        if let cacheControl { fields.append(ResponseField("Cache-Control", cacheControl)) }
        if hasGzip { fields.append(ResponseField("Vary", "Accept-Encoding")) }
        return fields
    }
}
