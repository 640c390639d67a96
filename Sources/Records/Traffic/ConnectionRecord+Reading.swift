internal import Base

extension ConnectionRecord {
    /// The first fatal alert of the client's leg, else the last one; `nil` if there was none.
    package var alert: AlertRecord? {
        let alerts = clientTLS?.alerts ?? []
        return alerts.first { $0.fatal } ?? alerts.last
    }

    /// The first fatal alert that the origin sent; `nil` if there was none.
    package var originAlert: AlertRecord? {
        originTLS?.alerts.first { $0.fatal && $0.sender == .peer }
    }

    /// Whose it is that it did not end in order; `nil` if it did, or goes on.
    package var party: Side? {
        switch outcome {
        case .open, .completed, .passedThrough: nil
        case .clientRefused, .clientHandshakeFailed, .refused: .client
        case .originUnreachable, .originUntrusted, .originHandshakeFailed: .origin
        case .timedOut, .broken: closedBy
        case .cut, .lost: .tool
        }
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
