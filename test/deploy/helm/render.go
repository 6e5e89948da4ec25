// Renders a chart as Helm does: Go's templates with sprig's functions, and Helm's own `include` and `toYaml`.
// Arguments: the chart's folder, and the release's values as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type object = map[string]interface{}

func main() {
	chart := os.Args[1]
	values := readYaml(filepath.Join(chart, "values.yaml"))
	given := object{}
	must(json.Unmarshal([]byte(os.Args[2]), &given))
	merge(values, given)
	about := readYaml(filepath.Join(chart, "Chart.yaml"))
	data := object{
		"Values":  values,
		"Chart":   object{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
		"Release": object{"Name": "approvals", "Namespace": "agents", "Service": "Helm"},
	}
	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	must(err)
	all := template.New("chart").Option("missingkey=error")
	all.Funcs(sprig.TxtFuncMap()).Funcs(template.FuncMap{
		"toYaml": func(value interface{}) (string, error) {
			text, err := yaml.Marshal(value)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"include": func(name string, data interface{}) (string, error) {
			var text strings.Builder
			err := all.ExecuteTemplate(&text, name, data)
			return text.String(), err
		},
	})
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(err)
		_, err = all.New(filepath.Base(file)).Parse(string(text))
		must(err)
	}
	rendered := object{}
	for _, file := range files {
		var text strings.Builder
		must(all.ExecuteTemplate(&text, filepath.Base(file), data))
		rendered[filepath.Base(file)] = text.String()
	}
	must(json.NewEncoder(os.Stdout).Encode(rendered))
}

func readYaml(file string) object {
	text, err := os.ReadFile(file)
	must(err)
	read := object{}
	must(yaml.Unmarshal(text, &read))
	return read
}

func merge(into object, from object) {
	for key, value := range from {
		inner, isObject := value.(object)
		before, wasObject := into[key].(object)
		if isObject && wasObject {
			merge(before, inner)
		} else {
			into[key] = value
		}
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
