internal import Base

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

extension OutputStream {
    /// A descriptor of this process; the terminal's width is `COLUMNS` or what the terminal says.
    package static func descriptor(_ descriptor: Int32, _ variables: [String: String])
        -> OutputStream
    {
        let isTerminal = isatty(descriptor) == 1
        return OutputStream(
            isTerminal: isTerminal, columns: isTerminal ? columns(descriptor, variables) : nil
        ) { bytes throws(Failure) in
            try writeAll(bytes, to: descriptor)
        }
    }

    private static func columns(_ descriptor: Int32, _ variables: [String: String]) -> Int? {
        if let text = variables["COLUMNS"], let columns = Int(text), columns > 0 { return columns }
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(Failure) {
        var written = 0
        while written < bytes.count {
            let (count, code) = unsafe bytes.withUnsafeBytes { source in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: source[written...])
                let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
                return (count, count < 0 ? errno : 0)
            }
            if count >= 0 {
                written += count
            } else if code == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&waiting, 1, -1)
            } else if code != EINTR {
                throw Failure(
                    code == EPIPE ? "output-closed" : "output-failed", party: .tool,
                    "cannot write output: \(systemMessage(code))")
            }
        }
    }
}

/// The system's words for an error number, in lower case as all of ours.
private func systemMessage(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text).lowercased()
}
