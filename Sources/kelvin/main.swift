print("kelvin")
