"""usage: mail-and-files.py CERTIFICATE KEY FOLDER

Serves SMTP, IMAP, POP3 and FTP on free ports of 127.0.0.1, each in plain with its switch to TLS and
under TLS from the start. Every login is welcome. FTP serves the files of FOLDER, by PASV and EPSV,
and takes uploads. Prints the ports as one line of JSON when it is ready.
"""

import json
import os
import socket
import socketserver
import ssl
import sys
import threading

certificate, key, folder = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
mail = "From: a@example.org\r\nSubject: greetings\r\n\r\nHello, this is a mail.\r\n"


class Dialogue(socketserver.BaseRequestHandler):
    """A dialogue of lines."""

    def handle(self):
        self.secured = False
        try:
            if self.server.implicit:
                self.secure()
            self.open()
            self.converse()
        except (OSError, EOFError):
            pass
        finally:
            self.request.close()

    def open(self):
        self.lines = self.request.makefile("rb")

    def secure(self):
        self.request = context.wrap_socket(self.request, server_side=True)
        self.secured = True
        self.open()

    def say(self, *lines):
        self.request.sendall("".join(f"{line}\r\n" for line in lines).encode())

    def line(self):
        line = self.lines.readline()
        if not line:
            raise EOFError
        return line.decode("latin-1").rstrip("\r\n")

    def until_dot(self):
        while self.line() != ".":
            pass

    def converse(self):
        self.say(self.greeting)
        while True:
            line = self.line()
            verb, _, argument = line.partition(" ")
            if self.take(verb.upper(), argument) == "end":
                return


class SMTP(Dialogue):
    greeting = "220 mail.example ESMTP"

    def take(self, verb, argument):
        if verb in ("EHLO", "HELO"):
            offer = [] if self.secured else ["250-STARTTLS"]
            self.say("250-mail.example", *offer, "250-AUTH PLAIN LOGIN", "250 8BITMIME")
        elif verb == "STARTTLS":
            self.say("220 go ahead")
            self.secure()
        elif verb == "AUTH":
            mechanism, _, answer = argument.partition(" ")
            if mechanism == "LOGIN":
                if not answer:
                    self.say("334 VXNlcm5hbWU6")
                    self.line()
                self.say("334 UGFzc3dvcmQ6")
                self.line()
            elif not answer:
                self.say("334 ")
                self.line()
            self.say("235 welcome")
        elif verb == "DATA":
            self.say("354 go on")
            self.until_dot()
            self.say("250 taken")
        elif verb == "QUIT":
            self.say("221 bye")
            return "end"
        else:
            self.say("250 ok")


class POP3(Dialogue):
    greeting = "+OK pop.example"

    def take(self, verb, argument):
        if verb == "CAPA":
            offer = [] if self.secured else ["STLS"]
            self.say("+OK", "USER", "SASL PLAIN", *offer, ".")
        elif verb == "STLS":
            self.say("+OK begin")
            self.secure()
        elif verb == "AUTH":
            if " " not in argument:
                self.say("+ ")
                self.line()
            self.say("+OK welcome")
        elif verb == "RETR":
            self.say("+OK", *mail.split("\r\n")[:-1], ".")
        elif verb == "LIST":
            self.say("+OK", f"1 {len(mail)}", ".")
        else:
            self.say("+OK")
            return "end" if verb == "QUIT" else None


class IMAP(Dialogue):
    greeting = "* OK imap.example"

    def take(self, tag, rest):
        verb, _, argument = rest.partition(" ")
        verb = verb.upper()
        if verb == "CAPABILITY":
            offer = "" if self.secured else " STARTTLS"
            self.say(f"* CAPABILITY IMAP4rev1{offer} AUTH=PLAIN SASL-IR")
        elif verb == "STARTTLS":
            self.say(f"{tag} OK begin")
            return self.secure()
        elif verb == "AUTHENTICATE" and " " not in argument:
            self.say("+ ")
            self.line()
        elif verb == "SELECT":
            self.say("* 1 EXISTS")
        elif verb == "FETCH":
            self.say(f"* 1 FETCH (BODY[TEXT] {{{len(mail)}}}")
            self.request.sendall(mail.encode())
            self.say(")")
        elif verb == "LIST":
            self.say('* LIST () "/" INBOX')
        elif verb == "LOGOUT":
            self.say("* BYE", f"{tag} OK")
            return "end"
        self.say(f"{tag} OK done")


class FTP(Dialogue):
    greeting = "220 FTP at your service"
    protected = False

    def listen(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        return self.listener.getsockname()[1]

    def data(self):
        connection, _ = self.listener.accept()
        self.listener.close()
        return context.wrap_socket(connection, server_side=True) if self.protected else connection

    def send(self, content):
        self.say("150 here it comes")
        with self.data() as data:
            data.sendall(content)
            if self.protected:
                data.unwrap()
        self.say("226 done")

    def receive(self, name):
        self.say("150 go on")
        content = b""
        with self.data() as data:
            while part := data.recv(65536):
                content += part
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
        self.say("226 taken")

    def take(self, verb, argument):
        name = os.path.basename(argument)
        if verb == "AUTH":
            self.say("234 begin")
            self.secure()
        elif verb == "USER":
            self.say("331 and the password?")
        elif verb == "PASS":
            self.say("230 welcome")
        elif verb == "PROT":
            self.protected = argument == "P"
            self.say("200 ok")
        elif verb == "PWD":
            self.say('257 "/"')
        elif verb == "EPSV":
            self.say(f"229 Extended (|||{self.listen()}|)")
        elif verb == "PASV":
            port = self.listen()
            self.say(f"227 Passive (127,0,0,1,{port >> 8},{port & 255})")
        elif verb == "RETR":
            with open(os.path.join(folder, name), "rb") as file:
                self.send(file.read())
        elif verb in ("LIST", "NLST"):
            self.send(b"")
        elif verb == "STOR":
            self.receive(name)
        elif verb == "QUIT":
            self.say("221 bye")
            return "end"
        elif verb in ("SIZE", "MDTM"):
            self.say("502 not here")
        else:
            self.say("200 ok")


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    implicit = False


ports = {}
for handler in (SMTP, IMAP, POP3, FTP):
    for implicit in (False, True):
        server = Server(("127.0.0.1", 0), handler)
        server.implicit = implicit
        ports[handler.__name__.lower() + ("s" if implicit else "")] = server.server_address[1]
        threading.Thread(target=server.serve_forever).start()
print(json.dumps(ports), flush=True)
