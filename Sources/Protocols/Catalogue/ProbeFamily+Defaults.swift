/// What holds for most probes of a family, so that their files need not say it.
extension ProbeFamily {
    /// Of the Common Weakness Enumeration.
    var weaknesses: [Int] {
        switch self {
        case .control: []
        case .trust: [295]
        case .name: [297]
        case .time: [298]
        case .purpose, .chain: [296, 295]
        case .crypto: [327, 326]
        case .revocation: [299]
        case .handshake: [347]
        case .plaintext: [319]
        case .passive: [757, 327]
        }
    }

    /// Of OWASP MASVS, MASWE and MASTG.
    var controls: [String] {
        switch self {
        case .control: []
        case .trust: ["MASVS-NETWORK-1", "MASWE-0052", "MASTG-TEST-0282"]
        case .name: ["MASVS-NETWORK-1", "MASWE-0052", "MASTG-TEST-0283"]
        case .time, .purpose, .chain, .revocation: ["MASVS-NETWORK-1", "MASWE-0052"]
        case .crypto: ["MASVS-NETWORK-1", "MASTG-TEST-0217"]
        case .handshake: ["MASVS-NETWORK-1", "MASTG-TEST-0023"]
        case .plaintext: ["MASVS-NETWORK-1", "MASWE-0050", "MASTG-TEST-0236"]
        case .passive: ["MASVS-NETWORK-1", "MASWE-0050", "MASTG-TEST-0217"]
        }
    }

    /// What to do about a client that fails.
    var fix: String {
        switch self {
        case .control: "find out why the client refuses a sound server before you trust the rest"
        case .trust:
            "remove the code or the setting that turns verification off or overrules it, and let "
                + "the TLS library build the path to the system's trust anchors"
        case .name:
            "let the TLS library compare the host's name with the certificate's "
                + "subjectAltName, and remove name checks of your own"
        case .time: "do not overrule the library's verdict on a certificate's time"
        case .purpose:
            "tell the TLS library that it verifies a server, so that it checks the purpose"
        case .crypto:
            "raise the library's security level, and refuse keys and digests that are weak"
        case .revocation: "ask for a stapled status and refuse a certificate that is revoked"
        case .chain: "verify with a maintained TLS library at its default settings; update it"
        case .handshake: "update the TLS library, and do not change its handshake"
        case .passive:
            "take it out of what the client offers: the defaults of a maintained library do without"
        case .plaintext: "use https from the first request on, and refuse to leave it"
        }
    }
}
