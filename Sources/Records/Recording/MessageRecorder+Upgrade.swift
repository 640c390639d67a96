package import Negotiation
internal import Traffic

extension MessageRecorder {
    /// Notes what was learned of a dialogue before TLS; its name stands elsewhere in the record.
    package func note(_ fact: UpgradeFact) {
        switch fact {
        case .named: break
        case .offered(let command): noteOnce(.upgradeOffered, "the origin offers \(command)")
        case .asked(let command): noteOnce(.upgradeAsked, "the client asked for \(command)")
        case .refused(let command, let answer):
            noteOnce(.upgradeRefused, "the origin refused \(command): \(answer)")
        case .plaintextLogin(let login):
            guard login.exposesSecret else { return }
            let offered =
                login.wasUpgradeOffered ? "although the origin offers TLS" : "without TLS"
            noteOnce(.plaintextLogin, "the client logged in by \(login.command) \(offered)")
        case .otherEncryption:
            noteOnce(.otherEncryption, "both sides agreed on GSSAPI, which is not decrypted")
        }
    }

    package func note(_ injected: InjectedBytes) {
        noteOnce(
            .upgradeInjection,
            "\(injected.side.rawValue) sent \(injected.count) plain bytes behind the switch to TLS")
    }
}
