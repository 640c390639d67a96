internal import Base
internal import HTTPCodecs
internal import HTTPModel

extension Representation {
    /// Answers GET and HEAD: negotiation, preconditions, ranges, in this order (RFC 9110 §13.2).
    ///
    /// Ranges count the bytes of the form that is chosen (RFC 9110 §14.1.2). For a GET with a Range
    /// field that is never one that is coded on the fly, unless the client accepts no other: it is
    /// then sent whole. HEAD ignores Range (RFC 9110 §14.2).
    package func response(to request: ServerRequest) -> ServerResponse {
        let ranges = request.method == .get ? request.fields.all(named: "range") : []
        guard
            let selected = SelectedRepresentation(
                of: self, AcceptEncoding(request.fields), needsParts: !ranges.isEmpty)
        else {
            var refusal = ServerResponse.plain(406)
            refusal.fields.append(ResponseField("Vary", "Accept-Encoding"))
            return refusal
        }
        switch PreconditionRule.judge(
            request.fields, method: request.method, validators: selected.validators,
            now: request.date)
        {
        case .proceed: break
        case .failed: return .plain(412)
        case .notModified: return notModified(selected.validators)
        }
        return content(selected, request, ranges)
    }

    private func content(
        _ selected: SelectedRepresentation, _ request: ServerRequest,
        _ ranges: [ArraySlice<UInt8>]
    ) -> ServerResponse {
        guard !ranges.isEmpty, let length = selected.length,
            PreconditionRule.rangeApplies(
                request.fields, validators: selected.validators, now: request.date)
        else { return whole(selected) }
        switch ByteRanges.resolve(ranges, length: length) {
        case .whole: return whole(selected)
        case .unsatisfiable: return unsatisfiable(length)
        case .parts(let parts) where parts.count == 1: return part(parts[0], of: selected, length)
        // Of which the parts of a multipart would be coded, and of which the multipart itself, no
        // field could say.
        case .parts where selected.coding != nil: return whole(selected)
        case .parts(let parts): return multipart(parts, selected)
        }
    }

    private func whole(_ selected: SelectedRepresentation) -> ServerResponse {
        var fields = fields(selected)
        if selected.length != nil { fields.append(ResponseField("Accept-Ranges", "bytes")) }
        var response = ServerResponse(
            200, fields, body: .stream(length: selected.length, selected.openWhole()))
        response.selected = selected
        return response
    }

    private func part(
        _ range: Range<UInt64>, of selected: SelectedRepresentation, _ length: UInt64
    ) -> ServerResponse {
        let text = ContentRange.part(range, total: length).text
        var selected = selected
        selected.part = range
        var response = ServerResponse(
            206, fields(selected) + [ResponseField("Content-Range", text)],
            body: .stream(length: range.upperBound - range.lowerBound, selected.openPart()))
        response.selected = selected
        return response
    }

    private func multipart(
        _ ranges: [Range<UInt64>], _ selected: SelectedRepresentation
    ) -> ServerResponse {
        let source = MultipartSource(self, ranges: ranges)
        let type = ResponseField(
            "Content-Type", "multipart/byteranges; boundary=\(source.boundary)")
        var response = ServerResponse(
            206, [type] + validatorFields(validators),
            body: .stream(length: source.length, source))
        response.selected = selected
        response.parts = source.parts
        return response
    }

    private func unsatisfiable(_ length: UInt64) -> ServerResponse {
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

    private func fields(_ selected: SelectedRepresentation) -> [ResponseField] {
        var fields: [ResponseField] = []
        fields.reserveCapacity(8)
        fields.append(ResponseField("Content-Type", contentType))
        append(selected.validators, to: &fields)
        if let coding = selected.coding {
            fields.append(ResponseField("Content-Encoding", coding.rawValue))
        }
        return fields
    }

    private func validatorFields(_ validators: Validators) -> [ResponseField] {
        var fields: [ResponseField] = []
        append(validators, to: &fields)
        return fields
    }

    private func append(_ validators: Validators, to fields: inout [ResponseField]) {
        if let tag = validators.entityTag { fields.append(ResponseField("ETag", tag.text)) }
        if let date = validators.lastModified {
            fields.append(ResponseField("Last-Modified", date.text))
        }
        if let cacheControl { fields.append(ResponseField("Cache-Control", cacheControl)) }
        if isCompressed || isNegotiated || !coded.isEmpty {
            fields.append(ResponseField("Vary", "Accept-Encoding"))
        }
    }
}
