internal import Base
internal import Contents

/// CLEAR-HTTP: the inventory of services that are reached without TLS.
enum ClearHTTPDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        guard view.isClear, !view.isTunnel else { return [] }
        let isPublic = isPublicInfrastructure(view)
        var result = RuleMatch(.clearHTTP, isPublic ? .info : .medium, .certain)
        result.place = .service
        if isPublic { result.notes = [.publicInfrastructure] }
        return [result]
    }

    /// What is signed by itself, or cannot work over TLS: certificate status, revocation lists,
    /// issuers' certificates, and the question whether a captive portal is in the way.
    private static func isPublicInfrastructure(_ view: ExchangeView) -> Bool {
        let types = [view.requestType, view.responseType].map { type in
            Array(type.prefix { $0 != 0x3B }).trimmed.lowercasedBytes.text
        }
        if !certificateTypes.isDisjoint(with: types) { return true }
        let path = view.target.path.prefix(256).lowercasedBytes.text
        if path.hasSuffix(".crl") { return true }
        if view.host.text.hasPrefix("ocsp.") { return true }
        return portalChecks.contains(view.host.text + path)
    }

    private static let certificateTypes: Set<String> = [
        "application/ocsp-request", "application/ocsp-response", "application/pkix-crl",
        "application/pkix-cert", "application/pkcs7-mime",
    ]
    private static let portalChecks: Set<String> = [
        "connectivitycheck.gstatic.com/generate_204", "clients3.google.com/generate_204",
        "www.google.com/gen_204", "captive.apple.com/hotspot-detect.html", "captive.apple.com/",
        "www.msftconnecttest.com/connecttest.txt", "www.msftncsi.com/ncsi.txt",
        "detectportal.firefox.com/success.txt", "detectportal.firefox.com/canonical.html",
        "nmcheck.gnome.org/check_network_status.txt", "network-test.debian.org/nm",
        "connectivity-check.ubuntu.com/", "fedoraproject.org/static/hotspot.txt",
    ]
}

extension RuleText {
    static let clearHTTP = RuleText(
        title: "Cleartext HTTP",
        reason: "anyone on the path reads and changes what is sent and what comes back",
        advice: "use https",
        decision: "A request went without TLS to a host that is not this machine.",
        exceptions:
            "Certificate status, revocation lists and portal checks are info: they are signed, or"
            + " have to be in clear.",
        worst: .medium,
        weaknesses: [319])
}
