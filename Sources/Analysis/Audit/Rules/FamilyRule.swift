package import Catalogue

/// Says which probes need not be shown, since what the client did before answers them.
///
/// It is timid on purpose: what a client does with one flaw rarely tells what it does with the
/// next. Each line below leaves out what a real client has been seen to treat otherwise:
/// - Who takes a self-signed certificate may take any chain of one certificate and no other
///   (`TrustSelfSignedStrategy`), so that says nothing of an unknown root.
/// - Who takes any chain may still check the name (curl's `CURLOPT_SSL_VERIFYPEER=0`, Java's
///   trust-all `X509TrustManager`), and the dates, and the form of a certificate.
/// - Who takes an origin's true chain behind a false leaf may look for a pin anywhere in it.
/// - Who takes what expired yesterday may allow for slow clocks.
/// - Who parses names strictly refuses a malformed one even if it checks none.
package enum FamilyRule {
    /// Returns the accepted probe that `probe` follows from, `nil` if it has to be shown.
    ///
    /// - Parameter accepted: the identifiers that this client at this destination accepted for
    ///   certain. Not those that it sent something to and refused then: that can be chance.
    package static func implying(
        _ probe: ProbeDescription, accepted: Set<String>
    ) -> String? {
        guard probe.expectation != .accept, !accepted.contains(probe.identifier) else {
            return nil
        }
        let implication = implications.first { implication in
            implication.conclusions.contains(probe.identifier)
                && accepted.isSuperset(of: implication.premises)
        }
        return implication?.premises.first
    }

    struct Implication: Sendable {
        /// All of them must have been accepted; the first is the one that is named.
        let premises: [String]
        let conclusions: Set<String>

        init(_ premises: String..., imply conclusions: Set<String>) {
            self.premises = premises
            self.conclusions = conclusions
        }
    }

    static let implications: [Implication] = [
        // One certificate, no chain, no root, and no sound signature: nothing is asked of a path.
        Implication(
            "trust-self-signed", "trust-unknown-root", "trust-mimic-leaf-real-issuers",
            imply: anyPath),
        Implication("trust-self-signed", imply: ["trust-self-signed-ca"]),
        Implication("name-wrong-host", imply: otherNames),
        Implication(
            "trust-self-signed-wrong-name", "trust-self-signed", "trust-unknown-root",
            imply: otherNames.union(["name-wrong-host"])),
        // No end is looked at: it may be read as 1950 or as 2050.
        Implication("time-expired-long-ago", imply: ["time-expired", "time-utctime-1950-wrap"]),
        Implication("time-expired-long-ago", "time-not-yet-valid", imply: ["time-inverted"]),
        // A purpose that has nothing to do with TLS is enough.
        Implication(
            "purpose-eku-codesigning-critical",
            imply: ["purpose-eku-codesigning", "purpose-eku-client-only"]),
        Implication("purpose-eku-codesigning", imply: ["purpose-eku-client-only"]),
        // What is weaker still was taken in the same place.
        Implication("crypto-leaf-md5", imply: ["crypto-leaf-sha1"]),
        Implication("crypto-int-md5", imply: ["crypto-int-sha1"]),
        Implication("crypto-leaf-rsa512", imply: ["crypto-leaf-rsa1024"]),
        Implication(
            "handshake-logjam-512", imply: ["handshake-logjam-768", "handshake-logjam-1024"]),
        Implication("handshake-logjam-768", imply: ["handshake-logjam-1024"]),
        // An ordinary leaf has neither the bit nor the usage of a CA.
        Implication(
            "chain-leaf-as-ca",
            imply: [
                "chain-int-bc-missing", "chain-int-bc-and-ku-missing",
                "chain-int-bc-false-ku-certsign", "chain-int-ku-no-certsign",
            ]),
        // The credentials were in a request that followed the redirect.
        Implication(
            "plaintext-redirect-leaks-credentials", imply: ["plaintext-redirect-to-http"]),
    ]

    private static let anyPath: Set<String> = [
        "trust-self-signed-ca", "trust-unknown-root-omitted", "trust-impostor-root-same-name",
        "trust-mimic-full-chain", "trust-self-signed-plus-real-root",
        "trust-unknown-root-plus-real-chain", "chain-leaf-bad-signature",
    ]

    /// Well-formed certificates for names that are not the host's.
    private static let otherNames: Set<String> = [
        "name-parent-domain", "name-child-domain", "name-sibling", "name-host-as-prefix",
        "name-host-as-suffix", "name-cn-match-san-mismatch", "name-cn-injected-in-o",
        "name-wildcard-two-labels", "name-wildcard-tld", "name-many-sans-wrong",
    ]
}
