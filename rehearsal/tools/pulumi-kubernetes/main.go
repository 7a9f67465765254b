// The Kubernetes provider's own main embeds files that are generated at release and are not in its
// module. They are in the module's cmd/pulumi-resource-kubernetes; the builder lays them beside this file.
package main

import (
	_ "embed"
	"fmt"
	"os"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var terraformMapping []byte

func main() {
	if len(os.Args) == 2 && os.Args[1] == "-version" { // for the builder, which checks what it made
		fmt.Println(version.Version)
		return
	}
	provider.Serve("kubernetes", version.Version, schema, terraformMapping)
}
