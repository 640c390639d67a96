internal import HTTPCodecs
internal import HTTPModel
internal import Recording

/// What of a response's head does not go to the client, because it would lead it to HTTP/3, which is
/// not intercepted.
struct HTTP3Removal {
    var dropping: [StaticString] = []
    var adding: [AddedField] = []

    static let none = HTTP3Removal()
}

extension ConnectionTask {
    /// Takes advertisements of HTTP/3 out of a response (RFC 7838 §3), and notes it.
    func removal(from head: ResponseHead) -> HTTP3Removal {
        guard policy.value.removesHTTP3, head.fields.contains(.alternativeServices) else {
            return .none
        }
        var removal = HTTP3Removal()
        var isAdvertised = false
        for value in head.fields.all(.alternativeServices) {
            do throws(AlternativeServicesViolation) {
                let services = try AlternativeServices(value)
                isAdvertised = isAdvertised || services.advertisesHTTP3
                if let rest = services.withoutHTTP3,
                    let field = AddedField("alt-svc".utf8, rest)
                {
                    removal.adding.append(field)
                }
            } catch {
                let (rest, advertisesHTTP3) = AlternativeServices.withoutHTTP3(malformed: value)
                isAdvertised = isAdvertised || advertisesHTTP3
                if let rest, let field = AddedField("alt-svc".utf8, rest) {
                    removal.adding.append(field)
                }
            }
        }
        guard isAdvertised else { return .none }
        removal.dropping = ["alt-svc"]
        noteOnce(
            "http3-advertisement-removed",
            "Alt-Svc offered HTTP/3, which is not intercepted; the client was not told")
        return removal
    }
}
