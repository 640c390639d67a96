internal import Base

extension ConnectionRecord {
    /// The first fatal alert of the client's leg, else the last one; `nil` if there was none.
    package var alert: AlertRecord? {
        let alerts = clientTLS?.alerts ?? []
        return alerts.first { $0.fatal } ?? alerts.last
    }

    /// The origin as it was asked for, empty if it is unknown.
    package var origin: String {
        if originHost.isEmpty { return clientTLS?.sni ?? "" }
        guard originPort > 0 else { return originHost }
        return HostPort(host: originHost, port: originPort).description
    }

    /// What the program is called that opened it, `nil` if it is not known.
    package var processName: String? {
        guard let process else { return nil }
        let path = process.executable.isEmpty ? process.commandLine.first : process.executable
        let name = path?.split(separator: "/").last.map(String.init) ?? ""
        return name.isEmpty ? String(process.id) : name
    }
}
