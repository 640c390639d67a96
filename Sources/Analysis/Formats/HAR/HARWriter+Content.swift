internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// Contents, as HAR has them in either direction.
extension HARWriter {
    /// Writes `content` of a response.
    mutating func writeContent(
        _ exchange: ExchangeRecord, _ head: RecordedHead, _ extras: inout Extras
    ) throws {
        let plan = try plan(exchange, .response, &extras)
        try json.name("content")
        try json.beginObject()
        try json.member("size", .integer(plan.decodedSize))
        let saved = plan.decodedSize &- exchange.responseBody.size
        if !plan.codings.isEmpty, !exchange.responseBody.isTruncated {
            try json.member("compression", .integer(saved))
        }
        try json.member("mimeType", .bytes(Array(head.first(named: "content-type") ?? [])))
        if let claimed = plan.claimed {
            try json.member("comment", .string(Self.withheld(claimed)))
        } else if plan.decodedSize > 0 {
            try writeText(plan)
            if !plan.isText { try json.member("encoding", "base64") }
        }
        try json.endObject()
    }

    /// Writes `postData` of a request, and `_content` for one that is no text.
    mutating func writePostData(
        _ exchange: ExchangeRecord, _ head: RecordedHead, _ extras: inout Extras
    ) throws {
        guard exchange.requestBody.size > 0 else { return }
        let plan = try plan(exchange, .request, &extras)
        let type = Array(head.first(named: "content-type") ?? [])
        try json.name("postData")
        try json.beginObject()
        try json.member("mimeType", .bytes(type))
        try json.member("params", Self.parameters(plan, type))
        if let claimed = plan.claimed {
            try json.member("text", "")
            try json.member("comment", .string(Self.withheld(claimed)))
        } else if plan.isText {
            try writeText(plan)
        } else {
            try json.member("text", "")
        }
        try json.endObject()
        guard plan.claimed == nil, !plan.isText else { return }
        try json.member("_requestBodyStatus", "discarded:not-representable")
        try json.name("_content")
        try json.beginObject()
        try json.member("size", .integer(plan.decodedSize))
        try writeText(plan)
        try json.member("encoding", "base64")
        try json.endObject()
    }

    private mutating func plan(
        _ exchange: ExchangeRecord, _ direction: Direction, _ extras: inout Extras
    ) throws -> HARContentPlan {
        let recorded = direction == .request ? exchange.requestHead : exchange.responseHead
        let plan = try HARContentPlan(
            exchange, direction, head: RecordedHead(recorded), withSecrets: options.withSecrets,
            in: source,
            checkpoint: options.checkpoint)
        let example =
            "the \(direction == .request ? "request" : "response") of exchange \(exchange.id)"
        if plan.claimed != nil {
            losses.note(.contentWithheld, example)
        } else if plan.isMasked {
            losses.note(.secretsMasked, example)
        }
        if plan.isLeftPacked { losses.note(.contentLeftPacked, example) }
        extras.keepContent(of: plan, direction)
        return plan
    }

    private mutating func writeText(_ plan: HARContentPlan) throws {
        try json.name("text")
        json.beginString()
        var base64 = Base64Pieces()
        try plan.visit { bytes in
            try json.string(plan.isText ? bytes : base64.encode(bytes))
        }
        try json.string(base64.finish())
        json.endString()
    }

    private static func parameters(_ plan: HARContentPlan, _ type: [UInt8]) -> JSONText {
        guard plan.claimed == nil, let content = plan.held, content.count <= parametersLimit else {
            return []
        }
        let type = MediaType(type[...])
        if type.isForm {
            return pairs(URLText.parameters(content))
        }
        guard type.isFormData,
            let parts = MultipartText.parts(of: content, boundary: type.boundary)
        else { return [] }
        return .array(
            parts.map { part in
                var members = JSONMembers()
                members.add("name", .bytes(part.name))
                members.add("fileName", part.fileName.map(JSONText.bytes) ?? .null)
                members.add("contentType", part.contentType.map(JSONText.bytes) ?? .null)
                if part.fileName == nil { members.add("value", .bytes(part.content)) }
                return members.json
            })
    }

    private static func withheld(_ claimed: String) -> String {
        "withheld by sallyport: not the \(claimed) that its type claims"
    }

    /// In bytes: a form is short.
    private static let parametersLimit = 1 << 20
}
