/// What the confined commands do, in Python.
enum Scripts {
    static let echoOnce = """
        import socket, sys
        s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20)
        s.sendall(b'hello')
        sys.exit(0 if s.recv(100) == b'answer' else 1)
        """
    static let serveOnce = """
        import socket
        l = socket.socket()
        l.bind(('127.0.0.1', 0))
        l.listen()
        s = socket.create_connection(('198.51.100.7', 80), 20)
        s.sendall(b'%d' % l.getsockname()[1])
        l.accept()[0].sendall(b'inside')
        """
    static let datagram = """
        import socket, sys
        s = socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
        s.settimeout(20)
        s.connect((sys.argv[1], int(sys.argv[2])))
        s.send(sys.argv[3].encode())
        sys.exit(0 if s.recv(100) == b'answer' else 1)
        """
    /// Ends with 0 if both kinds of socket were told at once.
    static let refusedDatagram = """
        import socket, sys
        to = (sys.argv[1], int(sys.argv[2]))
        told = 0
        for connects in (True, False):
            s = socket.socket(socket.AF_INET6 if ':' in to[0] else socket.AF_INET, socket.SOCK_DGRAM)
            s.settimeout(20)
            try:
                if connects:
                    s.connect(to)
                    s.send(b'connected')
                else:
                    s.sendto(b'free', to)
                s.recv(1)
            except (PermissionError, ConnectionRefusedError):
                told += 1
        sys.exit(2 - told)
        """
    static let ownDatagram = """
        import socket
        a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        a.settimeout(20)
        a.bind(('127.0.0.1', 0))
        b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for _ in range(3):
            b.sendto(b'x', a.getsockname())
            data, peer = a.recvfrom(10)
            a.sendto(b'y', peer)
            b.recv(10)
        """
}
