internal import HTTPCodecs
internal import HTTPModel
internal import Recording

extension ConnectionTask {
    /// A response's head without what would lead the client to HTTP/3, which is not intercepted
    /// (RFC 7838 §3); `nil` if there is nothing of it. Notes it.
    func withoutHTTP3(_ head: ResponseHead) -> ResponseHead? {
        guard policy.value.removesHTTP3, head.fields.contains(.alternativeServices) else {
            return nil
        }
        var isAdvertised = false
        let rest = head.rewritten { fields, slice in
            guard slice.known == .alternativeServices else { return .keep }
            let value = fields.value(slice)
            do throws(AlternativeServicesViolation) {
                let services = try AlternativeServices(value)
                isAdvertised = isAdvertised || services.advertisesHTTP3
                return services.withoutHTTP3.map(FieldChange.value) ?? .drop
            } catch {
                let (rest, advertisesHTTP3) = AlternativeServices.withoutHTTP3(malformed: value)
                isAdvertised = isAdvertised || advertisesHTTP3
                return rest.map(FieldChange.value) ?? .drop
            }
        }
        guard isAdvertised else { return nil }
        noteOnce(
            "http3-advertisement-removed",
            "Alt-Svc offered HTTP/3, which is not intercepted; the client was not told")
        return rest
    }
}
