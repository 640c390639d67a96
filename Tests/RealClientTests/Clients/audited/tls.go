// A client of net/http: default, without verification, or without a look at the name.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	how, url := os.Args[1], os.Args[2]
	config := &tls.Config{}
	if how != "default" {
		config.InsecureSkipVerify = true
	}
	if how == "no-hostname" {
		config.VerifyConnection = func(state tls.ConnectionState) error {
			options := x509.VerifyOptions{Intermediates: x509.NewCertPool()}
			for _, certificate := range state.PeerCertificates[1:] {
				options.Intermediates.AddCert(certificate)
			}
			_, err := state.PeerCertificates[0].Verify(options)
			return err
		}
	}
	client := http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig: config, Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true,
		},
	}
	response, err := client.Get(url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer response.Body.Close()
	io.Copy(os.Stdout, response.Body)
}
